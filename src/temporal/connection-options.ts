import { readFileSync } from 'node:fs';
import type { TLSConfig } from '@temporalio/client';
import { type Config, ConfigurationError } from '../config.ts';
import { errorCode } from '../error-text.ts';

/** How to reach the frontend: understood by the client's connection and by the worker's alike. */
export interface TemporalConnectionOptions {
  /** host:port */
  readonly address: string;
  readonly apiKey?: string;
  readonly tls?: false | TLSConfig;
}

const FILES = ['TEMPORAL_TLS_CA', 'TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'] as const;
type TemporalConfig = Pick<Config, 'TEMPORAL_API_KEY' | 'TEMPORAL_TLS' | (typeof FILES)[number]> & {
  readonly TEMPORAL_ADDRESS: string;
};

/**
 * Where Temporal is and how we authenticate: by an API key or a client certificate, both over TLS.
 * @throws {ConfigurationError} naming the variable whose file cannot be read
 */
export function temporalConnectionOptions(config: TemporalConfig): TemporalConnectionOptions {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_API_KEY: apiKey, TEMPORAL_TLS: wanted } = config;
  const target = { address, ...(apiKey !== undefined && { apiKey }) };
  const implied = [apiKey, ...FILES.map((name) => config[name])].some((value) => value !== undefined);
  if (!(wanted ?? implied)) return { ...target, tls: false };
  const [ca, crt, key] = FILES.map((name) => readPem(name, config[name]));
  return {
    ...target,
    tls: {
      ...(ca && { serverRootCACertificate: ca }),
      ...(crt && key && { clientCertPair: { crt, key } }),
    },
  };
}

function readPem(name: string, path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new ConfigurationError(`${name}: ${path} cannot be read (${errorCode(cause) ?? 'unknown'}).`, {
      cause,
    });
  }
}

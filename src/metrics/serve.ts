import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { ConfigurationError } from '../config.ts';

/**
 * Series in Prometheus text format from elsewhere than this process's own registry. Never rejects: what cannot be
 * read is left out. Its names must differ from all others.
 */
export type MetricsSource = () => Promise<string>;

export interface RunningMetrics {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface MetricsAddress {
  /** Loopback unless told otherwise. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** Errors of an address that this machine does not have, as opposed to a port that is taken. */
const BAD_HOST = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN']);

/**
 * Serves a registry and further sources together at /metrics on a port of its own. The registry is read last, so that
 * it tells what went wrong with the sources in this very answer. /healthz answers at once: the process lives.
 * @throws {ConfigurationError} when host or port cannot be had
 */
export async function serveMetrics(
  registry: Registry,
  { host = '127.0.0.1', port }: MetricsAddress,
  sources: readonly MetricsSource[] = [],
): Promise<RunningMetrics> {
  const read = async (): Promise<string> => {
    const others = await Promise.all(sources.map((source) => source()));
    return [await registry.metrics(), ...others].filter((text) => text !== '').join('\n');
  };
  const server = createServer((request, response) => {
    if (request.url === '/healthz') {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"ok"}');
      return;
    }
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    read().then(
      (text) => response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) =>
      reject(
        new ConfigurationError(
          BAD_HOST.has(code ?? '')
            ? `METRICS_HOST ${host} is no address of this machine.`
            : `METRICS_PORT ${port}: ${message}. Set it to a free port, or to none.`,
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
  const { address, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${bound}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

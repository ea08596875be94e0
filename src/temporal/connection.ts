import { NativeConnection } from '@temporalio/worker';

export interface TemporalAddress {
  /** host:port of the frontend. */
  readonly address: string;
  readonly namespace: string;
  /** For Temporal Cloud; implies TLS. */
  readonly apiKey?: string | undefined;
  readonly tls?: boolean | undefined;
}

/** One connection for clients and workers of a process: only a shared one lets a worker take its own starts eagerly. */
export const connectTemporal = (target: TemporalAddress): Promise<NativeConnection> =>
  NativeConnection.connect({
    address: target.address,
    ...(target.apiKey === undefined ? {} : { apiKey: target.apiKey }),
    tls: target.tls ?? target.apiKey !== undefined,
  });

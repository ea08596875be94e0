import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { ConfigurationError } from '../config.ts';
import { tenants } from '../tenants.ts';
import type { Health } from './health.ts';

/**
 * Series in Prometheus text format from outside this process's registry. Never rejects: what cannot be read is omitted.
 * Its names must be unique.
 */
export type MetricsSource = () => Promise<string>;

export interface RunningMetrics {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface MetricsAddress {
  /** Loopback by default. */
  readonly host?: string;
  /** 0 takes a free port. */
  readonly port: number;
}

/** For a process without a task of its own that could get stuck. */
const ALWAYS_WELL: Health = {
  unwell: async () => null,
  readiness: async () => ({ ready: true, checks: {} }),
};

/** Errors of an address that this machine does not have, as opposed to a port that is taken. */
const BAD_HOST = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN']);

/**
 * Serves a registry and further sources together at /metrics on its own port, and the workspaces that make the load at /top. The registry is read last, so that it
 * counts failures of the sources in the same response. /healthz is 503 when only a restart would help, /readyz when a
 * dependency is missing without which the process is useless.
 * @throws {ConfigurationError} when host or port cannot be had
 */
export async function serveMetrics(
  registry: Registry,
  { host = '127.0.0.1', port }: MetricsAddress,
  sources: readonly MetricsSource[] = [],
  health: Health = ALWAYS_WELL,
): Promise<RunningMetrics> {
  const read = async (): Promise<string> => {
    const others = await Promise.all(sources.map((source) => source()));
    return [await registry.metrics(), ...others].filter((text) => text !== '').join('\n');
  };
  const pages: Readonly<Record<string, () => Promise<{ status: number; type: string; body: string }>>> = {
    '/metrics': async () => ({ status: 200, type: Registry.PROMETHEUS_CONTENT_TYPE, body: await read() }),
    // contract.md O20
    '/top': async () => json(200, tenants.top()),
    '/healthz': async () => {
      const reason = await health.unwell();
      return reason === null ? json(200, { status: 'ok' }) : json(503, { status: 'unwell', reason });
    },
    '/readyz': async () => {
      const { ready, checks } = await health.readiness();
      return json(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks });
    },
  };
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ''];
    if (page === undefined) {
      response.writeHead(404).end();
      return;
    }
    page().then(
      ({ status, type, body }) => response.writeHead(status, { 'Content-Type': type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) =>
      reject(
        new ConfigurationError(
          BAD_HOST.has(code ?? '')
            ? `METRICS_HOST ${host} is not an address of this machine.`
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

const json = (status: number, body: object) => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});

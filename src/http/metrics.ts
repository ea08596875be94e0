import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { ConfigurationError } from '../config.ts';
import type { Observation } from './exchange.ts';

/** The HTTP side's figures for Prometheus. */
export interface HttpMetrics {
  readonly registry: Registry;
  /** Counts one answer: for `HttpDependencies.observe`. */
  readonly observe: (observation: Observation) => void;
}

/** Milliseconds between two looks at the event loop's delay. */
const EVENT_LOOP_RESOLUTION_MS = 50;

/** A registry of its own with the process's figures: CPU, memory, garbage collection, event loop. */
export function createProcessMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_RESOLUTION_MS });
  return registry;
}

/** A registry of its own with the process's figures and the time of every answer by route, method and status. */
export function createHttpMetrics(): HttpMetrics {
  const registry = createProcessMetrics();
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer, by route, method and status.',
    labelNames: ['route', 'method', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers: [registry],
  });
  const observers = new Map<string, (seconds: number) => void>();
  const observerOf = (route: string, method: string, status: number): ((seconds: number) => void) => {
    const name = `${method} ${status} ${route}`;
    const known = observers.get(name);
    if (known !== undefined) return known;
    const labelled = duration.labels({ route, method, status });
    const observer = (seconds: number): void => labelled.observe(seconds);
    observers.set(name, observer);
    return observer;
  };
  return {
    registry,
    observe: ({ route, method, status, seconds }) =>
      observerOf(route, KNOWN_METHODS.has(method) ? method : 'other', status)(seconds),
  };
}

/** A client may send any method; labels must not grow with what clients send. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export interface RunningMetrics {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Serves registries at /metrics on a port of its own, on loopback unless told otherwise; port 0 takes a
 * free one.
 * @throws {ConfigurationError} when the port cannot be had
 */
export async function serveMetrics(
  registries: readonly Registry[],
  { host = '127.0.0.1', port }: { host?: string; port: number },
): Promise<RunningMetrics> {
  const merged = registries.length === 1 ? registries[0] : Registry.merge([...registries]);
  const source = merged ?? new Registry();
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    source.metrics().then(
      (text) => response.writeHead(200, { 'Content-Type': source.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ message }) =>
      reject(new ConfigurationError(`METRICS_PORT ${port}: ${message}. Set it to a free port, or to none.`)),
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

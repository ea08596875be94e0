import { IllegalStateError } from '@temporalio/common';
import { NativeConnection, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { freePorts, LOOPBACK } from '../ports.ts';
import type { TemporalConnectionOptions } from './connection-options.ts';
import { rowOfRun } from './ids.ts';

/** Said of every queue that is for activities alone, as if somebody had forgotten its workflows. */
const ACTIVITIES_ALONE = 'No workflows registered, not polling for workflow tasks';
const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
/** How many free ports are tried before the SDK goes without metrics. */
const MAX_PORTS = 3;

let metricsUrl: string | undefined;

/** Where Temporal's SDK serves its own metrics, on loopback; undefined when it has none. */
export const sdkMetricsUrl = (): string | undefined => metricsUrl;

/**
 * Sends Temporal's own log lines to ours, and leaves signals to the process. Without effect while a runtime is there:
 * there is one for all workers of a process, and the SDK ends it with the last of them.
 * @param metricsPort a free port on loopback for the SDK's metrics, which it collects only then
 * @throws when the port is taken
 */
export function installRuntime(logger: Logger, metricsPort?: number): void {
  const write =
    (level: 'trace' | 'debug' | 'warn' | 'error') =>
    (message: string, { error, ...meta }: { error?: unknown; workflowId?: unknown } = {}) => {
      const fields = { ...rowOfRun(meta.workflowId), ...meta };
      logger[message === ACTIVITIES_ALONE ? 'debug' : level](
        error === undefined ? fields : { ...fields, err: error },
        message,
      );
    };
  const writers = {
    trace: write('trace'),
    debug: write('debug'),
    // What a worker says on its way is of interest to its developers only.
    info: write('debug'),
    warn: write('warn'),
    error: write('error'),
  };
  const metrics = {
    attachServiceName: false,
    prometheus: {
      bindAddress: `${LOOPBACK}:${metricsPort}`,
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
    },
  };
  try {
    Runtime.install({
      logger: {
        ...writers,
        log: (level, message, meta) => writers[LEVELS[level]](message, meta),
      },
      shutdownSignals: [],
      telemetryOptions: {
        logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
        ...(metricsPort === undefined ? {} : { metrics }),
      },
    });
  } catch (error) {
    if (error instanceof IllegalStateError) return;
    throw error;
  }
  metricsUrl = metricsPort === undefined ? undefined : `http://${LOOPBACK}:${metricsPort}/metrics`;
}

/** The same, with the SDK's metrics on a free port: see `sdkMetricsUrl`. */
export async function installMeasuredRuntime(logger: Logger): Promise<void> {
  for (let tried = 0; tried < MAX_PORTS; tried += 1) {
    try {
      installRuntime(logger, (await freePorts(1))[0]);
      return;
    } catch (error) {
      logger.debug({ err: error }, "no port for the metrics of Temporal's SDK");
    }
  }
  logger.warn("continuing without the metrics of Temporal's SDK");
  installRuntime(logger);
}

/** One connection for clients and workers of a process: only a shared one lets a worker take its own starts eagerly. */
export const connectTemporal = (target: TemporalConnectionOptions): Promise<NativeConnection> =>
  NativeConnection.connect({ ...target });

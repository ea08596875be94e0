import { Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

let installed = false;

/** Sends Temporal's own log lines to ours, and leaves signals to the process. Only the first call has an effect. */
export function installRuntime(logger: Logger): void {
  if (installed) return;
  installed = true;
  const write =
    (level: 'trace' | 'debug' | 'warn' | 'error') =>
    (message: string, { error, ...meta }: { error?: unknown } = {}) =>
      logger[level](error === undefined ? meta : { ...meta, err: error }, message);
  const writers = {
    trace: write('trace'),
    debug: write('debug'),
    // What a worker says on its way is of interest to its developers only.
    info: write('debug'),
    warn: write('warn'),
    error: write('error'),
  };
  Runtime.install({
    logger: {
      ...writers,
      log: (level, message, meta) => writers[LEVELS[level]](message, meta),
    },
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
  });
}

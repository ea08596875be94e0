import { Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

let installed = false;

/** Sends Temporal's own log lines to ours, and leaves signals to the process. Only the first call has an effect. */
export function installRuntime(logger: Logger): void {
  if (installed) return;
  installed = true;
  const write = (level: 'trace' | 'debug' | 'info' | 'warn' | 'error') => (message: string, meta?: object) =>
    logger[level]({ ...meta }, message);
  Runtime.install({
    logger: {
      log: (level, message, meta) =>
        write(level.toLowerCase() as 'trace' | 'debug' | 'info' | 'warn' | 'error')(message, meta),
      trace: write('trace'),
      debug: write('debug'),
      // What a worker says on its way is of interest to its developers only.
      info: write('debug'),
      warn: write('warn'),
      error: write('error'),
    },
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
  });
}

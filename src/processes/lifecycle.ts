import type { Logger } from 'pino';
import { ConfigurationError } from '../config.ts';
import { stopTracing } from '../tracing/start.ts';

/**
 * How long an orderly stop may take, in milliseconds: longer than a server's longest request, and than the part of an article
 * that a worker lets end.
 */
export const STOP_DEADLINE_MS = { server: 75_000, worker: 140_000 } as const;

interface Running {
  /** Resolves when the process has nothing left to do; rejects when it failed. */
  readonly done?: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs a process until a signal: the first SIGINT or SIGTERM stops it in order, and so does the end of `done`, with
 * status 1 when it failed. A signal during the start ends it at once: no work has been accepted yet. Errors that stop
 * the start are printed in one line, the configuration's in plain words.
 */
export async function runUntilSignal(
  logger: Logger,
  deadlineMs: number,
  start: () => Promise<Running>,
): Promise<never> {
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    process.on('SIGINT', resolve);
    process.on('SIGTERM', resolve);
  });
  let failed = false;
  const fail = (error: unknown) => {
    failed = true;
    if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
    else logger.fatal({ err: error }, 'stopped by an error');
  };
  try {
    const running = await Promise.race([start(), signalled]);
    if (typeof running === 'string') process.exit(0);
    await Promise.race([signalled, ...(running.done === undefined ? [] : [running.done])]).catch(fail);
    logger.info('stopping');
    await Promise.race([running.stop(), afterDeadline(deadlineMs)]);
  } catch (error) {
    fail(error);
  }
  await stopTracing();
  process.exit(failed ? 1 : 0);
}

const afterDeadline = (ms: number) =>
  new Promise<never>((_resolve, reject) => {
    const error = new Error(`not stopped within ${ms / 1_000} seconds`);
    setTimeout(() => reject(error), ms).unref();
  });

import type { Logger } from 'pino';
import { ConfigurationError } from './config.ts';

/**
 * Runs a process until it is told to stop: the first SIGINT or SIGTERM stops it in order, and so does the
 * end of `done`. Errors that stop the start are told in one line, the configuration's in plain words.
 */
export async function runUntilSignal(
  logger: Logger,
  start: () => Promise<{ readonly done?: Promise<void>; stop(): Promise<void> }>,
): Promise<void> {
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  try {
    const running = await start();
    const reason = await Promise.race([signalled, ...(running.done === undefined ? [] : [running.done])]);
    logger.info(reason === undefined ? 'stopped' : `stopping on ${reason}`);
    await running.stop();
  } catch (error) {
    if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
    else logger.fatal({ err: error }, 'stopped by an error');
    process.exitCode = 1;
  }
}

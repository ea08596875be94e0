import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { ConfigurationError, type ConnectedConfig } from '../config.ts';
import { askForNamespace, explainRefusal, isRefusal } from '../temporal/access.ts';
import { temporalConnectionOptions } from '../temporal/connection-options.ts';
import { connectTemporal, installMeasuredRuntime } from '../temporal/runtime.ts';
import { ensureSchedules, restoreSchedules } from '../temporal/schedules.ts';
import { registerSearchAttributes } from '../temporal/search-attributes.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';

/** How often a worker checks that the schedules exist, in milliseconds. */
export const SCHEDULES_EVERY_MS = 60_000;
/** How soon again after a failure, in milliseconds. */
const SCHEDULES_AGAIN_MS = 2_000;

/**
 * Creates the schedules, and again whenever Temporal has lost them. Retries failures: a restarting server must not stop
 * a running worker.
 * @param everyMs milliseconds between two looks; null makes no schedules
 */
export async function keepSchedules(
  client: Client,
  names: TaskQueues,
  logger: Logger,
  signal: AbortSignal,
  everyMs: number | null = SCHEDULES_EVERY_MS,
): Promise<void> {
  if (everyMs === null) return;
  let work = ensureSchedules;
  while (!signal.aborted) {
    let pause = everyMs;
    try {
      await work(client, names);
      work = restoreSchedules;
    } catch (error) {
      logger.warn({ err: error }, 'schedules not created yet');
      pause = SCHEDULES_AGAIN_MS;
    }
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Waits for a Temporal server that is away, and logs it.
 * @throws {ConfigurationError} when it refuses access: waiting would not help
 */
export async function connectWithRetries(config: ConnectedConfig, logger: Logger): Promise<NativeConnection> {
  const target = temporalConnectionOptions(config);
  for (;;) {
    try {
      // A failed connection closes the runtime with it.
      await installMeasuredRuntime(logger);
      const connection = await connectTemporal(target);
      await askForNamespace(connection, config.TEMPORAL_NAMESPACE, 5_000).catch((error: unknown) => {
        // Other errors of the namespace may be temporary.
        if (isRefusal(error)) throw error;
      });
      for (const { name, error } of await registerSearchAttributes(connection, config.TEMPORAL_NAMESPACE)) {
        logger.warn({ err: error }, `search attribute ${name} not registered; runs may lack it`);
      }
      return connection;
    } catch (error) {
      if (isRefusal(error)) {
        throw new ConfigurationError(explainRefusal(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE), {
          cause: error,
        });
      }
      logger.warn({ err: error }, `waiting for Temporal at ${config.TEMPORAL_ADDRESS}`);
      await sleep(2_000);
    }
  }
}

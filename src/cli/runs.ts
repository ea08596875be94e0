import { Client } from '@temporalio/client';
import type { Config } from '../config.ts';
import type { DeliveryId } from '../ids.ts';
import { createJobRuns, type JobRuns } from '../jobs/runs.ts';
import { readStackRecord } from '../local/stack-file.ts';
import { createLogger } from '../logger.ts';
import { jobAreas } from '../processes/job-areas.ts';
import { openClientConnection } from '../temporal/client-connection.ts';
import { temporalConnectionOptions } from '../temporal/connection-options.ts';
import { taskQueues } from '../temporal/task-queues.ts';
import { cancelRuns } from '../webhooks/endpoints/run-canceller.ts';
import { note } from './session.ts';

/** Runs that one command cancels; the rest end by themselves at their next attempt. */
const MAX_CANCELLED = 1_000;

/** The address of Temporal: TEMPORAL_ADDRESS, or the embedded one of DATA_DIR; undefined when that is not running. */
const addressOf = (config: Config): string | undefined =>
  config.TEMPORAL_ADDRESS ?? readStackRecord(config.DATA_DIR)?.temporal?.address;

async function withClient<Result>(
  config: Config,
  address: string,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  const connection = openClientConnection(
    temporalConnectionOptions({ ...config, TEMPORAL_ADDRESS: address }),
  );
  try {
    return await use(new Client({ connection, namespace: config.TEMPORAL_NAMESPACE }));
  } finally {
    await connection.close();
  }
}

/**
 * Cancels the runs of ended deliveries, if Temporal is known and responds. A run that is not reached ends at its next
 * attempt.
 */
export async function cancelRunsIfReached(config: Config, ids: readonly DeliveryId[]): Promise<void> {
  const address = addressOf(config);
  if (address === undefined || ids.length === 0) return;
  await withClient(config, address, async (client) => {
    const failures = await cancelRuns(client, ids.slice(0, MAX_CANCELLED), () => true);
    if (failures > 0) note('Temporal did not respond: the runs end by themselves at their next attempt.');
  });
}

/**
 * Runs of jobs that a command queues. A worker later starts one that Temporal does not take now.
 * @throws Error when no Temporal is known: no worker would run the job
 */
export async function withJobRuns<Result>(
  config: Config,
  use: (runs: JobRuns) => Promise<Result>,
): Promise<Result> {
  const address = addressOf(config);
  if (address === undefined)
    throw new Error('The service is not running: start it, or set TEMPORAL_ADDRESS.');
  return withClient(config, address, (client) =>
    use(
      createJobRuns({
        client,
        names: taskQueues(config.TEMPORAL_TASK_QUEUE_PREFIX),
        areas: jobAreas,
        unbilledLimit: config.UNBILLED_LIMIT_WORDS,
        engineSlots: config.TRANSLATION_ACTIVITY_SLOTS,
        logger: createLogger(config.LOG_LEVEL, 'admin'),
      }),
    ),
  );
}

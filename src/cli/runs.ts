import { Client, Connection } from '@temporalio/client';
import type { Config } from '../config.ts';
import type { DeliveryId } from '../ids.ts';
import { readStackRecord } from '../local/stack-file.ts';
import { temporalConnectionOptions } from '../temporal/connection-options.ts';
import { cancelRuns } from '../webhooks/endpoints/run-canceller.ts';
import { note } from './session.ts';

/** Runs that one command cancels: more would only wait here for what they find out by themselves. */
const MOST = 1_000;

/**
 * Cancels the runs of deliveries that have ended, where Temporal is known and answers: TEMPORAL_ADDRESS, or the
 * embedded one of DATA_DIR. A run that is not reached finds no delivery at its next attempt, and ends then.
 */
export async function cancelRunsIfReached(config: Config, ids: readonly DeliveryId[]): Promise<void> {
  const address = config.TEMPORAL_ADDRESS ?? readStackRecord(config.DATA_DIR)?.temporal?.address;
  if (address === undefined || ids.length === 0) return;
  const connection = Connection.lazy({
    ...temporalConnectionOptions({ ...config, TEMPORAL_ADDRESS: address }),
  });
  try {
    const client = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE });
    const failures = await cancelRuns(client, ids.slice(0, MOST), () => true);
    if (failures > 0) note('Temporal did not answer: the runs end by themselves at their next attempt.');
  } finally {
    await connection.close();
  }
}

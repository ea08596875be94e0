import { type RawBuilder, sql } from 'kysely';
import type { BurstId } from '../ids.ts';
import { burstWorkflowId, deliveryWorkflowId } from '../temporal/ids.ts';
import { runState } from '../temporal/workflow-client.ts';
import { endInRun, freeBurst } from '../webhooks/deliveries/end.ts';
import { type OverdueRun, overdueRuns } from '../webhooks/deliveries/read-open.ts';
import { STOPPED_BY_OPERATOR } from '../webhooks/deliveries/states.ts';
import { startDelivery } from '../webhooks/relay/start.ts';
import type { ReconcileDependencies } from './jobs.ts';

/** A burst is open for a minute, and its last attempts take 15 seconds. */
const BURST_SECONDS = 90;

/**
 * Checks every delivery whose run should have made an attempt by now, and every burst that should have ended. A run
 * that Temporal does not know is started under the same id; a closed one was stopped from outside, and its delivery
 * ends failed with its attempts unchanged. Deliveries of a burst without a run are freed.
 */
export async function reconcileDeliveries(
  dependencies: ReconcileDependencies,
): Promise<{ returned: number; ended: number }> {
  const { db, minimumAgeMs: ageMs, onProgress, onError } = dependencies;
  const counts = { returned: await freeLostBursts(dependencies, OLD), ended: 0 };
  let looked = 0;
  for await (const page of overdueRuns(db, ageMs)) {
    const ends = await Promise.all(
      page.map((delivery) =>
        lookAt(dependencies, delivery).catch((error: unknown) => onError(delivery.id, error)),
      ),
    );
    counts.returned += ends.filter((end) => end === 'started').length;
    counts.ended += ends.filter((end) => end === 'ended').length;
    looked += page.length;
    onProgress(looked);
  }
  // Last, and best effort: it reads all open deliveries.
  counts.returned += await freeLostBursts(dependencies, UNKNOWN).catch((error: unknown) => {
    onProgress(looked);
    onError('webhook_bursts', error);
    return 0;
  });
  return counts;
}

async function lookAt(
  { db, client, names }: ReconcileDependencies,
  delivery: OverdueRun,
): Promise<'started' | 'ended' | undefined> {
  const state = await runState(client, deliveryWorkflowId(delivery.id));
  if (state === 'unknown') return (await startDelivery(client, names, delivery)) ? 'started' : undefined;
  if (state === 'running') return undefined;
  return (await endInRun(db, delivery.id, STOPPED_BY_OPERATOR)) ? 'ended' : undefined;
}

/** Bursts that should have ended by now. */
const OLD = sql<{ id: BurstId }>`
  SELECT id FROM webhook_bursts WHERE started_at < now() - make_interval(secs => ${BURST_SECONDS})`;
/** Bursts without a row that have deliveries: this code leaves none, manual changes might. */
const UNKNOWN = sql<{ id: BurstId }>`
  SELECT DISTINCT burst_id AS id FROM webhook_open
  WHERE burst_id IS NOT NULL AND NOT EXISTS (SELECT FROM webhook_bursts AS burst WHERE burst.id = burst_id)`;

/** @returns how many deliveries were freed */
async function freeLostBursts(
  { db, client, onProgress, onError }: ReconcileDependencies,
  lost: RawBuilder<{ id: BurstId }>,
): Promise<number> {
  const { rows } = await lost.execute(db);
  let freed = 0;
  for (const [index, { id }] of rows.entries()) {
    try {
      if ((await runState(client, burstWorkflowId(id))) !== 'running') freed += await freeBurst(db, id);
    } catch (error) {
      onError(id, error);
    }
    onProgress(index);
  }
  return freed;
}

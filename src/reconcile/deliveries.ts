import { sql } from 'kysely';
import type { BurstId, DeliveryId } from '../ids.ts';
import { burstWorkflowId, deliveryWorkflowId } from '../temporal/ids.ts';
import { runState } from '../temporal/workflow-client.ts';
import { endAbandonedDelivery } from '../webhooks/attempts/record.ts';
import { handBack } from '../webhooks/burst/hand-back.ts';
import type { ReconcileDependencies } from './jobs.ts';

const PAGE = 200;
const PARALLEL = 20;

/**
 * Looks at every delivery that is Temporal's and overdue. One whose run is unknown goes back to the outbox
 * with its attempts and next-attempt time; one whose run has closed was stopped from outside and ends
 * failed, its attempts unchanged. Rows still in the outbox are the relay's.
 */
export async function reconcileDeliveries(
  dependencies: ReconcileDependencies,
): Promise<{ returned: number; ended: number }> {
  const { db, client, minimumAgeMs, onProgress, onError } = dependencies;
  const counts = { returned: 0, ended: 0 };
  /** The deliveries of a burst have one run between them. */
  const states = new Map<string, ReturnType<typeof runState>>();
  const stateOf = (workflowId: string) => {
    const known = states.get(workflowId) ?? runState(client, workflowId);
    states.set(workflowId, known);
    return known;
  };
  const look = async ({ id, burst_id: burstId }: { id: DeliveryId; burst_id: BurstId | null }) => {
    const state = await stateOf(burstId === null ? deliveryWorkflowId(id) : burstWorkflowId(burstId));
    // A burst that ended by itself has left nothing behind but what a lost worker claimed too late.
    if (burstId !== null && (state === 'unknown' || state === 'completed')) {
      counts.returned += await handBack(db, burstId, [id]);
    } else if (state === 'unknown') {
      const returned = await db
        .updateTable('webhook_deliveries')
        .set({
          outbox: true,
          claimed_until: null,
          start_failures: 0,
          start_not_before: null,
          handed_over_at: null,
        })
        .where('id', '=', id)
        .where('ended_at', 'is', null)
        .where('outbox', '=', false)
        .where('burst_id', 'is', null)
        .executeTakeFirst();
      counts.returned += Number(returned.numUpdatedRows);
    } else if (state !== 'running') {
      if (await endAbandonedDelivery(db, id, burstId, 'stopped by an operator')) counts.ended += 1;
    }
  };
  let last = 0;
  for (let looked = 0; ; ) {
    states.clear();
    const page = await db
      .selectFrom('webhook_deliveries')
      .select(['id', 'seq', 'burst_id'])
      .where('outbox', '=', false)
      .where('ended_at', 'is', null)
      .where('next_attempt_at', '<', sql<Date>`now() - make_interval(secs => ${minimumAgeMs / 1000})`)
      .where('seq', '>', last)
      .orderBy('seq')
      .limit(PAGE)
      .execute();
    for (let from = 0; from < page.length; from += PARALLEL) {
      await Promise.all(
        page
          .slice(from, from + PARALLEL)
          .map((row) => look(row).catch((error: unknown) => onError(row.id, error))),
      );
      looked += PARALLEL;
      onProgress(looked);
    }
    const end = page.at(-1);
    if (page.length < PAGE || end === undefined) return counts;
    last = end.seq;
  }
}

import { sql } from 'kysely';
import type { DeliveryId } from '../ids.ts';
import { deliveryWorkflowId } from '../temporal/ids.ts';
import { runState } from '../temporal/runs.ts';
import { endDelivery } from '../webhooks/delivery/record.ts';
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
  const look = async (id: DeliveryId) => {
    const state = await runState(client, deliveryWorkflowId(id));
    if (state === 'unknown') {
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
        .executeTakeFirst();
      counts.returned += Number(returned.numUpdatedRows);
    } else if (state === 'closed') {
      if (await endDelivery(db, id, 'stopped by an operator')) counts.ended += 1;
    }
  };
  let last = 0;
  for (let looked = 0; ; ) {
    const page = await db
      .selectFrom('webhook_deliveries')
      .select(['id', 'seq'])
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
          .map(({ id }) => look(id).catch((error: unknown) => onError(id, error))),
      );
      looked += PARALLEL;
      onProgress(looked);
    }
    const end = page.at(-1);
    if (page.length < PAGE || end === undefined) return counts;
    last = end.seq;
  }
}

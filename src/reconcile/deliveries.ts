import { type RawBuilder, sql } from 'kysely';
import type { BurstId } from '../ids.ts';
import { burstWorkflowId, deliveryWorkflowId } from '../temporal/ids.ts';
import { runState } from '../temporal/workflow-client.ts';
import { endInRun } from '../webhooks/deliveries/end.ts';
import { freeBurst } from '../webhooks/deliveries/free-burst.ts';
import { type OverdueRun, overdueRuns, type RunPlace } from '../webhooks/deliveries/read-open.ts';
import { STOPPED_BY_OPERATOR } from '../webhooks/deliveries/states.ts';
import { startDelivery } from '../webhooks/relay/start.ts';
import { forAll, type ReconcileDependencies, type Step, type Walk } from './rows.ts';

/** A burst is open for a minute, and its last attempts take 15 seconds. */
const BURST_SECONDS = 90;

/** Bursts that are looked at in a round. */
const MAX_BURSTS = 1_000;

/**
 * Checks every delivery whose run should have made an attempt by now, and every burst that should have ended. A run
 * that Temporal does not know is started under the same id; a closed one was stopped from outside, and its delivery
 * ends failed with its attempts unchanged. Deliveries of a burst without a run are freed.
 */
export async function reconcileDeliveries(
  dependencies: ReconcileDependencies,
  walk: Walk<RunPlace>,
): Promise<{ returned: number; ended: number } & Step<RunPlace>> {
  const { db, minimumAgeMs: ageMs, onError } = dependencies;
  const { from, until, onPlace } = walk;
  const counts = { returned: 0, ended: 0 };
  let place = from;
  const onRow = () => onPlace(place);
  if (from === null) counts.returned += await freeLostBursts(dependencies, OLD, onRow);
  const look = async (delivery: OverdueRun) => {
    const end = await lookAt(dependencies, delivery);
    if (end === 'started') counts.returned += 1;
    if (end === 'ended') counts.ended += 1;
  };
  for await (const page of overdueRuns(db, ageMs, from)) {
    await forAll(page, look, { onRow, onError });
    const last = page.at(-1);
    if (last === undefined) break;
    place = { endpointId: last.endpointId, dueAt: last.dueAt, id: last.id };
    onRow();
    if (performance.now() >= until) return { ...counts, last: place };
  }
  // Last, and best effort: it reads all open deliveries.
  counts.returned += await freeLostBursts(dependencies, UNKNOWN, onRow).catch((error: unknown) => {
    onRow();
    onError('webhook_bursts', error);
    return 0;
  });
  return { ...counts, last: null };
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
  SELECT id FROM webhook_bursts WHERE started_at < now() - make_interval(secs => ${BURST_SECONDS})
  ORDER BY started_at LIMIT ${MAX_BURSTS}`;
/** Bursts without a row that have deliveries: this code leaves none, manual changes might. */
const UNKNOWN = sql<{ id: BurstId }>`
  SELECT DISTINCT burst_id AS id FROM webhook_open
  WHERE burst_id IS NOT NULL AND NOT EXISTS (SELECT FROM webhook_bursts AS burst WHERE burst.id = burst_id)
  LIMIT ${MAX_BURSTS}`;

/** @returns how many deliveries were freed */
async function freeLostBursts(
  { db, client, onError }: ReconcileDependencies,
  lost: RawBuilder<{ id: BurstId }>,
  onRow: () => void,
): Promise<number> {
  const { rows } = await lost.execute(db);
  let freed = 0;
  const free = async ({ id }: { id: BurstId }) => {
    if ((await runState(client, burstWorkflowId(id))) !== 'running') freed += await freeBurst(db, id);
  };
  await forAll(rows, free, { onRow, onError });
  return freed;
}

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { EventId } from '../ids.ts';

/** Events looked at in one round, and deliveries removed by one statement. */
const EVENTS_A_PAGE = 500;
const DELIVERIES_A_BATCH = 1_000;

export interface PruneOptions {
  /** Milliseconds that ended deliveries, and events without open ones, are kept. */
  readonly retentionMs: number;
  /** Called after every batch; what it throws stops the work there. */
  readonly onProgress?: () => void;
}

export interface PrunedWebhooks {
  readonly events: number;
  readonly deliveries: number;
}

interface Position {
  readonly created_at: Date;
  readonly id: EventId;
}

/** The retention's end, fixed once by the database's clock so that a run has an end. */
async function readCutoff(db: Database, retentionMs: number): Promise<Date> {
  const { rows } = await sql<{ cutoff: Date }>`
    SELECT date_trunc('milliseconds', now() - make_interval(secs => ${retentionMs / 1_000})) AS cutoff
  `.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the database did not tell the time');
  return row.cutoff;
}

async function nextPage(db: Database, cutoff: Date, after: Position | undefined): Promise<Position[]> {
  let query = db.selectFrom('events').select(['id', 'created_at']).where('created_at', '<', cutoff);
  if (after !== undefined) {
    query = query.where((eb) =>
      eb(eb.refTuple('created_at', 'id'), '>', eb.tuple(after.created_at, after.id)),
    );
  }
  return query.orderBy('created_at').orderBy('id').limit(EVENTS_A_PAGE).execute();
}

/** Rows that somebody works with are left for the next run. @returns how many went, their attempts with them */
async function deleteEndedDeliveries(
  db: Database,
  events: readonly EventId[],
  cutoff: Date,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM webhook_deliveries
      WHERE event_id = ANY (${events}::uuid[]) AND ended_at < ${cutoff}
      LIMIT ${DELIVERIES_A_BATCH}
      FOR UPDATE SKIP LOCKED
    )
    DELETE FROM webhook_deliveries AS delivery USING old WHERE delivery.id = old.id
  `.execute(db);
  return Number(numAffectedRows);
}

async function deleteEventsWithoutDeliveries(db: Database, events: readonly EventId[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM events AS event
      WHERE id = ANY (${events}::uuid[])
        AND NOT EXISTS (SELECT FROM webhook_deliveries AS delivery WHERE delivery.event_id = event.id)
      FOR UPDATE SKIP LOCKED
    )
    DELETE FROM events AS event USING old WHERE event.id = old.id
  `.execute(db);
  return Number(numAffectedRows);
}

/**
 * Removes deliveries that ended longer ago than the retention, with their attempts, and events as old that no
 * delivery refers to any more. An open delivery keeps its event however old it is. A delivery is never older than
 * its event, so one walk along the events' index meets both. Every batch commits by itself.
 */
export async function pruneWebhooks(
  db: Database,
  { retentionMs, onProgress }: PruneOptions,
): Promise<PrunedWebhooks> {
  const cutoff = await readCutoff(db, retentionMs);
  let deliveries = 0;
  let events = 0;
  for (let after: Position | undefined; ; ) {
    const page = await nextPage(db, cutoff, after);
    const ids = page.map(({ id }) => id);
    for (let full = ids.length > 0; full; ) {
      const removed = await deleteEndedDeliveries(db, ids, cutoff);
      deliveries += removed;
      full = removed === DELIVERIES_A_BATCH;
      onProgress?.();
    }
    if (ids.length > 0) events += await deleteEventsWithoutDeliveries(db, ids);
    after = page.at(-1);
    if (page.length < EVENTS_A_PAGE) return { events, deliveries };
  }
}

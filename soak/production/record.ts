import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import type { ArticleId, DeliveryId, EventId } from '../../src/ids.ts';

/**
 * The tables of the record, and which table's rows they copy. The body is kept as its SHA-256, in hex.
 * Unlogged: they cost the service little, and Postgres is not killed here.
 */
const COPIES = [
  {
    of: 'events',
    columns: 'id uuid, type text, article_id uuid, body text',
    values: "id, type, article_id, encode(sha256(body), 'hex')",
  },
  { of: 'webhook_open', columns: 'id uuid, event_id uuid', values: 'id, event_id' },
  {
    of: 'webhook_log',
    columns: 'id uuid, status text, attempts smallint, error_message text, in_run boolean',
    values: 'id, status, attempts, error_message, in_run',
  },
] as const;

/**
 * Keeps a record of all that is stored from now on: events, deliveries and how these ended. Each is copied in the
 * transaction that stores it, so the record has what was committed, whatever is dropped later.
 */
export async function keepRecord(db: Database): Promise<void> {
  for (const { of, columns, values } of COPIES) {
    const record = `recorded_${of}`;
    for (const statement of [
      `CREATE UNLOGGED TABLE ${record} (${columns})`,
      `CREATE FUNCTION ${record}() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN INSERT INTO ${record} SELECT ${values} FROM stored; RETURN NULL; END $$`,
      `CREATE TRIGGER ${record} AFTER INSERT ON ${of} REFERENCING NEW TABLE AS stored
       FOR EACH STATEMENT EXECUTE FUNCTION ${record}()`,
    ]) {
      await sql.raw(statement).execute(db);
    }
  }
}

/** An event, one delivery of it, and how that ended; nulls where there is none, or it has not. */
export interface RecordedDelivery {
  readonly event: EventId;
  readonly type: string;
  readonly article: ArticleId | null;
  readonly body: string;
  readonly id: DeliveryId | null;
  readonly status: 'succeeded' | 'failed' | null;
  readonly attempts: number | null;
  readonly error_message: string | null;
  readonly in_run: boolean | null;
}

/** All of the record: one for each delivery, and for each event without one. */
export async function readRecord(db: Database): Promise<RecordedDelivery[]> {
  const { rows } = await sql<RecordedDelivery>`
    SELECT event.id AS event, event.type, event.article_id AS article, event.body, delivery.id,
      log.status, log.attempts, log.error_message, log.in_run
    FROM recorded_events AS event
    LEFT JOIN recorded_webhook_open AS delivery ON delivery.event_id = event.id
    LEFT JOIN recorded_webhook_log AS log ON log.id = delivery.id`.execute(db);
  return rows;
}

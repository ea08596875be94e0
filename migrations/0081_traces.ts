import { type Kysely, sql } from 'kysely';

/** The trace that events, lists of events to come and jobs are a part of, as `traceparent`; null where nothing is traced. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['events', 'event_fanouts', 'jobs']) {
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN traceparent text`.execute(db);
  }
}

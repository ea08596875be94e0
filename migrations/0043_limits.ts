import { type Kysely, sql } from 'kysely';

/** A workspace's own limits of requests a minute; null: as configured, 0: none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE workspaces
      ADD COLUMN requests_per_key integer CHECK (requests_per_key >= 0),
      ADD COLUMN requests_per_workspace integer CHECK (requests_per_workspace >= 0)`.execute(db);
}

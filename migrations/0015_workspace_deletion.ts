import { type Kysely, sql } from 'kysely';

/** When a workspace was deleted whose rows are still being removed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE workspaces ADD COLUMN deleted_at timestamptz(3)`.execute(db);
}

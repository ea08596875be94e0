import { type Kysely, sql } from 'kysely';

/**
 * Until when a writer may still name bytes that it is storing: they are stored before the transaction that names them,
 * so that no transaction waits for a store across the network.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE blobs ADD COLUMN kept_until timestamptz(3)`.execute(db);
}

import { type Kysely, sql } from 'kysely';

/**
 * Which stored images are in use, so that those in nobody's use can be removed; and an index of the articles that
 * belong to a job at this moment.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE blobs (
      hash text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
      size bigint NOT NULL CHECK (size >= 0),
      unreferenced_since timestamptz(3)
    )`.execute(db);
  await sql`INSERT INTO blobs (hash, size) SELECT content_hash, max(byte_size) FROM assets GROUP BY content_hash`.execute(
    db,
  );
  await sql`CREATE INDEX assets_content_idx ON assets (content_hash)`.execute(db);
  await sql`CREATE INDEX articles_owned_idx ON articles (id) WHERE status IN ('QUEUED', 'PROCESSING')`.execute(
    db,
  );
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX articles_owned_idx, assets_content_idx`.execute(db);
  await sql`DROP TABLE blobs`.execute(db);
}

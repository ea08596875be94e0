import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Articles and assets are written while their indexes are built. */
export const online = true;

/**
 * Which stored images are in use, so that those in nobody's use can be removed; and an index of the articles that
 * belong to a job at this moment.
 */
export async function up(_db: Kysely<unknown>, { alter, createIndex }: OnlineSteps): Promise<void> {
  await alter(sql`
    CREATE TABLE IF NOT EXISTS blobs (
      hash text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
      size bigint NOT NULL CHECK (size >= 0),
      unreferenced_since timestamptz(3)
    )`);
  await createIndex('assets_content_idx', 'ON assets (content_hash)');
  await createIndex('articles_owned_idx', "ON articles (id) WHERE status IN ('QUEUED', 'PROCESSING')");
}

import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Images are uploaded while the indexes are built. */
export const online = true;

/**
 * Size in pixels, a preview and a thumbnail beside each image, and the prompt of one that was generated. Images of before
 * have none of these.
 */
export async function up(_db: Kysely<unknown>, { alter, createIndex }: OnlineSteps): Promise<void> {
  await alter(sql`
    ALTER TABLE assets
      ADD COLUMN IF NOT EXISTS width integer CHECK (width > 0),
      ADD COLUMN IF NOT EXISTS height integer CHECK (height > 0),
      ADD COLUMN IF NOT EXISTS preview_hash text CHECK (preview_hash ~ '^[0-9a-f]{64}$'),
      ADD COLUMN IF NOT EXISTS thumbnail_hash text CHECK (thumbnail_hash ~ '^[0-9a-f]{64}$'),
      ADD COLUMN IF NOT EXISTS variant_bytes bigint NOT NULL DEFAULT 0 CHECK (variant_bytes >= 0),
      ADD COLUMN IF NOT EXISTS prompt text CHECK (prompt <> '')`);
  await createIndex('assets_preview_idx', 'ON assets (preview_hash) WHERE preview_hash IS NOT NULL');
  await createIndex('assets_thumbnail_idx', 'ON assets (thumbnail_hash) WHERE thumbnail_hash IS NOT NULL');
}

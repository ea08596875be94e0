import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every request for a run writes to jobs and holds. */
export const online = true;

/**
 * Jobs that make an image anew in place. What they replace goes on being served for a while: each earlier blob of an
 * image is a row until then.
 */
export async function up(_db: Kysely<unknown>, { alter, createIndex }: OnlineSteps): Promise<void> {
  await alter(sql`
    ALTER TABLE jobs DROP CONSTRAINT IF EXISTS jobs_purpose_check,
      ADD CONSTRAINT jobs_purpose_check CHECK (
        (kind = 'translation' AND purpose IN ('translate', 'refresh'))
        OR (kind = 'generation' AND purpose IN ('generate', 'outline', 'image'))) NOT VALID`);
  await alter(sql`ALTER TABLE jobs VALIDATE CONSTRAINT jobs_purpose_check`);
  await alter(sql`
    ALTER TABLE holds DROP CONSTRAINT IF EXISTS holds_purpose_check,
      ADD CONSTRAINT holds_purpose_check
        CHECK (purpose IN ('translation', 'ai_operation', 'refresh', 'generate', 'outline', 'image')) NOT VALID`);
  await alter(sql`ALTER TABLE holds VALIDATE CONSTRAINT holds_purpose_check`);
  await alter(sql`ALTER TABLE generation_images ADD COLUMN IF NOT EXISTS replaces text`);
  await createIndex(
    'generation_images_replacing_idx',
    'ON generation_images (asset_id) WHERE replaces IS NOT NULL',
  );
  await alter(sql`
    CREATE TABLE IF NOT EXISTS asset_former_blobs (
      asset_id uuid NOT NULL REFERENCES assets ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      content_hash text NOT NULL CHECK (content_hash ~ '^[0-9a-f]{64}$'),
      media_type text NOT NULL,
      replaced_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (asset_id, content_hash)
    )`);
  await createIndex('asset_former_blobs_content_idx', 'ON asset_former_blobs (content_hash)');
  await createIndex('asset_former_blobs_replaced_idx', 'ON asset_former_blobs (replaced_at)');
}

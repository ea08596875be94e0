import { sql } from 'kysely';

/**
 * SQL: everything that names stored bytes, `(hash, article_id)`. Collection, the bytes' writers and the export of a
 * workspace read nothing else: a new column or table with hashes gets its line here, and an index on them. `article_id` says whose the
 * bytes are; null where they are not exported.
 */
export const NAMED_BLOBS = sql`(
  SELECT content_hash AS hash, article_id FROM assets
  UNION ALL SELECT preview_hash, article_id FROM assets WHERE preview_hash IS NOT NULL
  UNION ALL SELECT thumbnail_hash, article_id FROM assets WHERE thumbnail_hash IS NOT NULL
  UNION ALL SELECT former.content_hash, article_id FROM asset_former_blobs AS former JOIN assets ON id = asset_id
  UNION ALL SELECT hash, NULL FROM staged_blobs
)`;

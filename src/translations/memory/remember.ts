import { sql } from 'kysely';
import { inBatches } from '../../db/batches.ts';
import type { Database } from '../../db/database.ts';
import { foreignKeyViolation } from '../../db/errors.ts';
import { retryingConflicts } from '../../db/transaction.ts';
import type { JobId } from '../../ids.ts';
import { isOtherThanDeleted, MAX_ENTRY_BYTES } from './deleted.ts';

/** Segments per statement. */
const ROWS = 2_000;
/** Entries kept per article; more only when a single job wrote more. */
const KEPT = 5_000;

/**
 * Adds the texts of a COMPLETED job to the workspace's memory, reused ones too, so that an entry lives as long as the last
 * article that has it. Texts of people and texts made from an old translation are not copied (contract.md V59), and what was deleted does not come back (V54). Idempotent; does nothing for a job in another status.
 */
export async function remember(db: Database, jobId: JobId): Promise<void> {
  let written = 0;
  try {
    for await (const batch of inBatches('', (after: string) => rememberSome(db, jobId, after))) {
      written += batch.rows;
    }
  } catch (error) {
    // The article was deleted meanwhile.
    if (foreignKeyViolation(error) === null) throw error;
    return;
  }
  if (written > 0) await forgetOldest(db, jobId, Math.max(KEPT, written));
}

async function rememberSome(
  db: Database,
  jobId: JobId,
  after: string,
): Promise<{ rows: number; last: string | null }> {
  const { rows } = await retryingConflicts(() =>
    sql<{ rows: number; last: string | null }>`
      WITH page AS (
        SELECT jobs.workspace_id, project_id, article_id, source_language, target_language, segment.key, text_key, made_by, segment.kind, source_text, target_text
        FROM jobs JOIN translations ON translations.job_id = jobs.id
          JOIN translation_segments AS segment ON segment.job_id = jobs.id
        WHERE jobs.id = ${jobId} AND jobs.status = 'COMPLETED' AND segment.key > ${after}
          AND target_text IS NOT NULL AND from_memory IS DISTINCT FROM 'people'
          AND outcome IS DISTINCT FROM 'accepted' AND NOT coalesce(in_version ? 'current', false)
        ORDER BY segment.key LIMIT ${ROWS}
      ), written AS (
        INSERT INTO translation_memory AS memory (workspace_id, project_id, article_id, layer, source_language,
          target_language, text_key, made_by, kind, source_text, target_text)
        SELECT DISTINCT ON (text_key) workspace_id, project_id, article_id, 'machine', source_language,
          target_language, text_key, made_by, kind, source_text, target_text
        FROM page WHERE octet_length(source_text) + octet_length(target_text) <= ${MAX_ENTRY_BYTES} ORDER BY text_key
        ON CONFLICT (article_id, layer, text_key) DO UPDATE SET
          made_by = excluded.made_by, kind = excluded.kind, source_text = excluded.source_text,
          target_text = excluded.target_text, written_at = now(), used_at = now(), deleted_hash = NULL
        WHERE ${isOtherThanDeleted}
      )
      SELECT count(*)::integer AS rows, CASE WHEN count(*) = ${ROWS} THEN max(key) END AS last FROM page`.execute(
      db,
    ),
  );
  return rows[0] ?? { rows: 0, last: null };
}

const forgetOldest = (db: Database, jobId: JobId, kept: number) =>
  sql`
    DELETE FROM translation_memory WHERE ctid = ANY (ARRAY(
      SELECT memory.ctid FROM jobs JOIN translation_memory AS memory USING (article_id)
      WHERE jobs.id = ${jobId} AND layer = 'machine' AND deleted_hash IS NULL
      ORDER BY written_at DESC, text_key OFFSET ${kept}))`.execute(db);

import { sql } from 'kysely';
import { readAssets } from '../../articles/images.ts';
import type { Database } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { MemoryFacts } from '../../document/tasks/memory.ts';
import { ServiceError, TooSlowError } from '../../errors.ts';
import type { ArticleId, WorkspaceId } from '../../ids.ts';
import { writeJson } from '../../json-text.ts';
import { doTask } from '../../threads/pool.ts';
import { readTexts, toSnapshot } from '../read-source.ts';

/** Limits of one run: versions read, and time. Later runs read the rest. */
const VERSIONS = 200;
const ROUND_MS = 10_000;
/** Rows that one statement writes. */
const ROWS = 2_000;

interface Unread {
  readonly version_id: ArticleId;
  readonly source_id: ArticleId;
}

/**
 * Adds approved texts to the memory: of versions in this language that are APPROVED or PUBLISHED and have changed since
 * they were last read, latest first. The next translation does this, so that saves and publications stay fast. Skips
 * versions that are being deleted. A claim of a lost worker expires after a minute.
 */
export async function learnFromPeople(
  db: Database,
  workspaceId: WorkspaceId,
  facts: MemoryFacts,
): Promise<void> {
  const end = performance.now() + ROUND_MS;
  for (const version of await unreadVersions(db, workspaceId, facts)) {
    if (performance.now() >= end) return;
    if (await claim(db, workspaceId, version)) await learnFrom(db, workspaceId, facts, version);
  }
}

async function unreadVersions(
  db: Database,
  workspaceId: WorkspaceId,
  { sourceLanguage, targetLanguage }: MemoryFacts,
): Promise<readonly Unread[]> {
  const { rows } = await sql<Unread>`
    SELECT version.id AS version_id, source.id AS source_id
    FROM articles AS version
    JOIN article_provenance AS known ON known.article_id = version.id
    JOIN articles AS source ON source.id = known.source_article_id AND source.workspace_id = ${workspaceId}
    LEFT JOIN remembered_versions AS remembered ON remembered.article_id = version.id
    WHERE version.workspace_id = ${workspaceId} AND version.primary_language = ${targetLanguage}
      AND version.status IN ('APPROVED', 'PUBLISHED') AND source.primary_language = ${sourceLanguage}
      AND remembered.read_of IS DISTINCT FROM version.updated_at
    ORDER BY version.updated_at DESC LIMIT ${VERSIONS}`.execute(db);
  return rows;
}

/** Claims a version for this run. @returns false when it was deleted, or another run has claimed or read it */
async function claim(
  db: Database,
  workspaceId: WorkspaceId,
  { version_id: versionId }: Unread,
): Promise<boolean> {
  const { rows } = await sql`
    WITH version AS (
      SELECT id, updated_at FROM articles WHERE workspace_id = ${workspaceId} AND id = ${versionId}
      FOR KEY SHARE SKIP LOCKED
    )
    INSERT INTO remembered_versions AS remembered (article_id, workspace_id, claimed_at)
    SELECT id, ${workspaceId}, clock_timestamp() FROM version
    ON CONFLICT (article_id) DO UPDATE SET read_of = NULL, claimed_at = excluded.claimed_at
    WHERE remembered.read_of <> (SELECT updated_at FROM version)
      OR remembered.read_of IS NULL AND remembered.claimed_at < clock_timestamp() - interval '1 minute'
    RETURNING 1`.execute(db);
  return rows.length > 0;
}

/** Replaces the version's entries. */
async function learnFrom(
  db: Database,
  workspaceId: WorkspaceId,
  facts: MemoryFacts,
  { version_id: versionId, source_id: sourceId }: Unread,
): Promise<void> {
  const read = async (id: ArticleId) => {
    const row = await readTexts(db, workspaceId, id)
      .leftJoin('article_provenance as known', 'known.article_id', 'articles.id')
      .select((eb) => ['articles.updated_at', eb.cast<string | null>('known.units', 'text').as('units')])
      .executeTakeFirst();
    return row && { ...row, content: writeJson(toSnapshot(row, await readAssets(db, workspaceId, id))) };
  };
  const [source, version] = [await read(sourceId), await read(versionId)];
  if (source === undefined || version === undefined || version.units === null) return;
  const taught = await doTask('taughtTexts', source.content, version.content, version.units, facts).catch(
    (error: unknown): ReadonlyMap<string, string> => {
      // The threads are busy: not this version's fault, so it is read again later.
      if (error instanceof ServiceError && !(error instanceof TooSlowError)) throw error;
      // Would fail every time and block other translations: counts as read.
      return new Map();
    },
  );
  const rows = [...taught];
  await inTransaction(db, async (tx) => {
    const article = await tx
      .selectFrom('articles')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', versionId)
      .forKeyShare()
      .executeTakeFirst();
    if (article === undefined) return;
    await tx
      .deleteFrom('translation_memory')
      .where('article_id', '=', versionId)
      .where('layer', '=', 'people')
      .execute();
    for (let at = 0; at < rows.length; at += ROWS) {
      const some = rows.slice(at, at + ROWS);
      await sql`
        INSERT INTO translation_memory (workspace_id, article_id, layer, made_by, text_key, target_text)
        SELECT ${workspaceId}, ${versionId}, 'people', '', * FROM unnest(
          ${some.map(([key]) => key)}::text[], ${some.map(([, text]) => text)}::text[])
        ON CONFLICT (article_id, layer, text_key) DO UPDATE SET target_text = excluded.target_text`.execute(
        tx,
      );
    }
    await tx
      .updateTable('remembered_versions')
      .set({ read_of: version.updated_at })
      .where('article_id', '=', versionId)
      .execute();
  });
}

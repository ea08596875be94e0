import { sql } from 'kysely';
import { readAssets } from '../../articles/images.ts';
import type { Database } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { TaughtText } from '../../document/refresh/taught.ts';
import type { MemoryFacts } from '../../document/tasks/memory.ts';
import { ServiceError, TooSlowError } from '../../errors.ts';
import { iso } from '../../fields.ts';
import type { ArticleId, ProjectId, WorkspaceId } from '../../ids.ts';
import { writeJson } from '../../json-text.ts';
import { doTask } from '../../threads/pool.ts';
import { readTexts, toSnapshot } from '../read-source.ts';
import { isOtherThanDeleted, MAX_ENTRY_BYTES } from './deleted.ts';

/** Limits of one run: versions read, and time. Later runs read the rest. */
const VERSIONS = 200;
const ROUND_MS = 10_000;
/** Rows that one statement writes. */
const ROWS = 2_000;

/** Whose approved texts a translation may use: a project's, or with null the whole workspace's. */
export interface MemoryScope {
  readonly workspaceId: WorkspaceId;
  readonly projectId: ProjectId | null;
}

interface Unread {
  readonly version_id: ArticleId;
  readonly source_id: ArticleId;
}

/**
 * SQL over `articles`: when people last approved or published it (contract.md V51). A save after that is part of what was
 * approved, at the same time.
 */
const approvedAt = sql<Date | null>`greatest(articles.published_at, (
  SELECT review.created_at FROM reviews AS review
  WHERE review.article_id = articles.id AND review.decision = 'approved'
  ORDER BY review.created_at DESC LIMIT 1))`;

/**
 * Adds approved texts to the memory: of versions in this language that are APPROVED or PUBLISHED and have changed since
 * they were last read, latest first. The next translation does this, so that saves and publications stay fast. The order
 * decides nothing else: entries have the time of their approval. Skips versions that are being deleted. A claim of a lost
 * worker expires after a minute.
 */
export async function learnFromPeople(db: Database, scope: MemoryScope, facts: MemoryFacts): Promise<void> {
  const { workspaceId } = scope;
  const end = performance.now() + ROUND_MS;
  for (const version of await unreadVersions(db, scope, facts)) {
    if (performance.now() >= end) return;
    if (await claim(db, workspaceId, version)) await learnFrom(db, workspaceId, facts, version);
  }
}

async function unreadVersions(
  db: Database,
  { workspaceId, projectId }: MemoryScope,
  { sourceLanguage, targetLanguage }: MemoryFacts,
): Promise<readonly Unread[]> {
  const { rows } = await sql<Unread>`
    SELECT version.id AS version_id, source.id AS source_id
    FROM articles AS version
    JOIN article_provenance AS known ON known.article_id = version.id
    JOIN articles AS source ON source.id = known.source_article_id AND source.workspace_id = ${workspaceId}
    LEFT JOIN remembered_versions AS remembered ON remembered.article_id = version.id
    WHERE version.workspace_id = ${workspaceId} AND version.primary_language = ${targetLanguage}
      AND ${projectId === null ? sql`true` : sql`version.project_id = ${projectId}`}
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

/** Replaces the version's entries. A deleted one stays away while its text is the same (contract.md V54). */
async function learnFrom(
  db: Database,
  workspaceId: WorkspaceId,
  facts: MemoryFacts,
  { version_id: versionId, source_id: sourceId }: Unread,
): Promise<void> {
  const read = async (id: ArticleId) => {
    const row = await readTexts(db, workspaceId, id)
      .leftJoin('article_provenance as known', 'known.article_id', 'articles.id')
      .select((eb) => [
        'articles.updated_at',
        approvedAt.as('approved_at'),
        eb.cast<string | null>('known.units', 'text').as('units'),
      ])
      .executeTakeFirst();
    return row && { ...row, content: writeJson(toSnapshot(row, await readAssets(db, workspaceId, id))) };
  };
  const [source, version] = [await read(sourceId), await read(versionId)];
  if (source === undefined || version === undefined || version.units === null) return;
  const taught = await doTask('taughtTexts', source.content, version.content, version.units, facts).catch(
    (error: unknown): ReadonlyMap<string, TaughtText> => {
      // The threads are busy: not this version's fault, so it is read again later.
      if (error instanceof ServiceError && !(error instanceof TooSlowError)) throw error;
      // Would fail every time and block other translations: counts as read.
      return new Map();
    },
  );
  const rows = [...taught].filter(([, text]) => bytesOf(text) <= MAX_ENTRY_BYTES);
  await inTransaction(db, async (tx) => {
    const article = await tx
      .selectFrom('articles')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', versionId)
      .forKeyShare()
      .executeTakeFirst();
    if (article === undefined) return;
    await sql`
      DELETE FROM translation_memory AS memory
      WHERE article_id = ${versionId} AND layer = 'people' AND deleted_hash IS NULL AND NOT EXISTS (
        SELECT FROM unnest(${rows.map(([key]) => key)}::text[]) AS taught (key) WHERE taught.key = memory.text_key)`.execute(
      tx,
    );
    for (let at = 0; at < rows.length; at += ROWS) {
      const some = rows.slice(at, at + ROWS);
      await sql`
        INSERT INTO translation_memory AS memory (workspace_id, project_id, article_id, layer, made_by,
          source_language, target_language, written_at, text_key, kind, source_text, target_text)
        SELECT ${workspaceId}, ${version.project_id}, ${versionId}, 'people', '',
          ${facts.sourceLanguage}, ${facts.targetLanguage}, ${iso(version.approved_at ?? version.updated_at)}, *
        FROM unnest(
          ${some.map(([key]) => key)}::text[],
          ${some.map(([, { kind }]) => kind)}::text[],
          ${some.map(([, { source: text }]) => text)}::text[],
          ${some.map(([, { target }]) => target)}::text[])
        ON CONFLICT (article_id, layer, text_key) DO UPDATE SET
          kind = excluded.kind, source_text = excluded.source_text, target_text = excluded.target_text,
          written_at = excluded.written_at, used_at = excluded.used_at, deleted_hash = NULL
        WHERE ${isOtherThanDeleted}`.execute(tx);
    }
    await tx
      .updateTable('remembered_versions')
      .set({ read_of: version.updated_at })
      .where('article_id', '=', versionId)
      .execute();
  });
}

const bytesOf = ({ source, target }: TaughtText): number =>
  Buffer.byteLength(source) + Buffer.byteLength(target);

import { sql } from 'kysely';
import { insertArticle, noteMade } from '../articles/insert.ts';
import { type ArticleRow, articleChanged, articleColumns } from '../articles/queries.ts';
import { OWNING } from '../articles/states.ts';
import type { Queryable, Tx } from '../db/database.ts';
import { EMPTY_DOCUMENT } from '../document/format/schema.ts';
import { conflict } from '../errors.ts';
import { type ArticleId, newId, type TranslationGroupId, type WorkspaceId } from '../ids.ts';
import { slugOfTranslation } from '../slug.ts';
import { type LockedSource, readContent } from './read-source.ts';

/**
 * Moves the empty draft that a failed or cancelled translation left in this language back to QUEUED; null when the group
 * has no version in the language.
 * @throws {ServiceError} CONFLICT for any other version (contract.md T14)
 */
export async function reuseDraft(
  tx: Tx,
  workspaceId: WorkspaceId,
  groupId: TranslationGroupId,
  language: string,
): Promise<ArticleRow | null> {
  // No lock here: the UPDATE below locks the version if it can be reused.
  const existing = await tx
    .selectFrom('articles')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('translation_group_id', '=', groupId)
    .where('primary_language', '=', language)
    .executeTakeFirst();
  if (existing === undefined) return null;
  const reused = await tx
    .updateTable('articles')
    .set({ status: 'QUEUED', ...articleChanged })
    .where('id', '=', existing.id)
    .where('status', '=', 'DRAFT')
    .where(sql<boolean>`jsonb_array_length(document -> 'blocks') = 0`)
    .where(
      sql<boolean>`(SELECT purpose = 'translate' AND status IN ('FAILED', 'CANCELLED') FROM jobs
        WHERE jobs.article_id = articles.id AND purpose = ANY (${OWNING}::text[]) ORDER BY created_at DESC, id DESC LIMIT 1)`,
    )
    .returning(articleColumns)
    .executeTakeFirst();
  if (reused === undefined) {
    throw conflict(`The article already has a version in ${language}.`, 'translation_exists');
  }
  return reused;
}

/** A draft that a translation may fill. */
export interface Draft {
  /** A `Snapshot` as JSON text. */
  readonly content: string;
  /** The title that the service gave it; null when unknown. */
  readonly madeTitle: string | null;
}

/**
 * The empty version of a group in a language; null when there is none.
 * @param isLocked locks it until the transaction ends
 */
export async function readDraft(
  db: Queryable,
  workspaceId: WorkspaceId,
  groupId: TranslationGroupId,
  language: string,
  isLocked = false,
): Promise<Draft | null> {
  const row = await db
    .selectFrom('articles')
    .$if(isLocked, (query) => query.forUpdate())
    .select(['id', 'made_title'])
    .where('workspace_id', '=', workspaceId)
    .where('translation_group_id', '=', groupId)
    .where('primary_language', '=', language)
    .where(sql<boolean>`jsonb_array_length(document -> 'blocks') = 0`)
    .executeTakeFirst();
  const content = row && (await readContent(db, workspaceId, row.id));
  return content === undefined ? null : { content, madeTitle: row?.made_title ?? null };
}

/**
 * Inserts an empty QUEUED article into the source's group. It has the source's title until it is translated, and notes title
 * and slug as they were made (contract.md T54).
 */
export async function insertDraft(
  tx: Tx,
  workspaceId: WorkspaceId,
  source: LockedSource,
  language: string,
): Promise<ArticleRow> {
  const draft = await insertArticle(tx, {
    id: newId<ArticleId>(),
    workspace_id: workspaceId,
    project_id: source.project_id,
    title: source.snapshot.title,
    slugBase: slugOfTranslation(source.snapshot.title, source.slug, language),
    status: 'QUEUED',
    document: EMPTY_DOCUMENT,
    primary_language: language,
    translation_group_id: source.translation_group_id,
    word_count: 0,
  });
  await noteMade(tx, draft.id);
  return draft;
}

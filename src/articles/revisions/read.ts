import { type Selectable, sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../errors.ts';
import { iso } from '../../fields.ts';
import { type PageRequest, readPage } from '../../http/paging.ts';
import type { ArticleId, RevisionId } from '../../ids.ts';
import { JsonText } from '../../json-text.ts';
import type { RevisionPage, RevisionSummary } from './schemas.ts';

const summaryColumns = [
  'id',
  'title',
  'word_count',
  'author_kind',
  'author_id',
  'author_since',
  'created_at',
] as const satisfies readonly (keyof Tables['article_revisions'])[];

export const toRevisionSummary = (
  row: Pick<Selectable<Tables['article_revisions']>, (typeof summaryColumns)[number]>,
): RevisionSummary => ({
  id: row.id,
  title: row.title,
  wordCount: row.word_count,
  author: row.author_kind === null ? null : { kind: row.author_kind, id: row.author_id },
  savedAt: iso(row.author_since),
  replacedAt: iso(row.created_at),
});

/** One page of an article's revisions (articles.read), latest replaced first. */
export async function listRevisions(
  { db, actor }: VerbContext,
  articleId: ArticleId,
  page: PageRequest<RevisionId>,
): Promise<RevisionPage> {
  requirePermissions(actor, 'articles.read');
  const query = db
    .selectFrom('article_revisions')
    .select(summaryColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId);
  const { rows, nextCursor } = await readPage(db, query, page);
  return { revisions: rows.map(toRevisionSummary), nextCursor };
}

/**
 * A revision's content; its document stays text.
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function findRevision({ db, actor }: VerbContext, articleId: ArticleId, revisionId: RevisionId) {
  const row = await db
    .selectFrom('article_revisions')
    .select([
      ...summaryColumns,
      'meta_title',
      'meta_description',
      'target_keywords',
      'secondary_keywords',
      sql<string>`document::text`.as('document'),
    ])
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId)
    .where('id', '=', revisionId)
    .executeTakeFirstOrThrow(() => notFound('revision'));
  return {
    ...toRevisionSummary(row),
    metaTitle: row.meta_title,
    metaDescription: row.meta_description,
    targetKeywords: row.target_keywords,
    secondaryKeywords: row.secondary_keywords,
    document: row.document,
  };
}

/**
 * Reads a revision (articles.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function readRevision(context: VerbContext, articleId: ArticleId, revisionId: RevisionId) {
  requirePermissions(context.actor, 'articles.read');
  const { document, ...revision } = await findRevision(context, articleId, revisionId);
  return { ...revision, documentJson: new JsonText(document) };
}

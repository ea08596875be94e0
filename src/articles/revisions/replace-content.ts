import { sql, type UpdateQueryBuilder, type UpdateResult } from 'kysely';
import type { Author } from '../../context.ts';
import type { Tx } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import type { ArticleId } from '../../ids.ts';
import { contentChanged } from '../queries.ts';

/** Revisions per article; a further one replaces the oldest. */
export const MAX_REVISIONS = 50;
/** An author's saves within this many minutes of the first one share a revision. */
const RUN_MINUTES = 5;

/** The content's author as columns. */
const columnsOf = (author: Author['actor']) => {
  if (author.kind === 'api_key') return { author_kind: 'api_key', author_id: author.keyId } as const;
  if (author.kind === 'operator') return { author_kind: 'operator', author_id: null } as const;
  return { author_kind: 'job', author_id: author.jobId } as const;
};

/** The author of a new article, and since when, as columns. */
export const writtenBy = (author: Author['actor']) => ({
  ...columnsOf(author),
  author_since: sql<Date>`statement_timestamp()`,
});

/** Columns that a revision copies from its article. */
const KEPT = [
  'workspace_id',
  'title',
  'document',
  'meta_title',
  'meta_description',
  'target_keywords',
  'secondary_keywords',
  'word_count',
  'author_kind',
  'author_id',
  'author_since',
] as const satisfies readonly (keyof Tables['articles'] & keyof Tables['article_revisions'])[];

/** Of both renderings Postgres knows the octets without reading them. */
const documentBytes = sql<number>`articles.bytes - coalesce(octet_length(content_html), 0)
  - coalesce(octet_length(content_markdown), 0)`.as('bytes');

/**
 * Builds the update with which an author (a person or a job) replaces an article's title, document, meta fields or
 * keywords. The caller adds `.set(…)` and executes it. The same statement stores the replaced content as a revision, if
 * another author wrote it or this author's five minutes are over, and removes the oldest revision beyond the fiftieth. So
 * a save needs no further round trip. Postgres copies a large document compressed, as stored.
 *
 * An earlier statement of the transaction must have locked the article.
 * @param always stores a revision within the author's five minutes, too
 */
export function replaceContent(
  tx: Tx,
  articleId: ArticleId,
  author: Author['actor'],
  { always = false } = {},
): UpdateQueryBuilder<Tables, 'articles', 'articles', UpdateResult> {
  const { author_kind, author_id } = columnsOf(author);
  // One time for the whole statement, later than that of any earlier writer.
  const now = sql<Date>`statement_timestamp()`;
  const goesOn = always
    ? sql<boolean>`false`
    : sql<boolean>`(articles.author_kind, articles.author_id) IS NOT DISTINCT FROM (${author_kind}, ${author_id}::uuid)
        AND articles.author_since > ${now} - make_interval(mins => ${RUN_MINUTES})`;
  // The empty draft of a translation has no author, and no revision.
  const isWritten = sql<boolean>`(articles.author_kind IS NOT NULL OR jsonb_array_length(articles.document -> 'blocks') > 0)`;
  return tx
    .with('kept', (db) =>
      db
        .insertInto('article_revisions')
        .columns(['article_id', ...KEPT, 'bytes', 'created_at'])
        .expression(
          db
            .selectFrom('articles')
            .select(['id', ...KEPT, documentBytes, now.as('created_at')])
            .where('id', '=', articleId)
            .where(sql<boolean>`NOT (${goesOn})`)
            .where(isWritten),
        )
        .returning('id'),
    )
    .with('dropped', (db) =>
      db
        .deleteFrom('article_revisions')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('article_revisions')
            .select('id')
            .where('article_id', '=', articleId)
            .orderBy('created_at', 'desc')
            .orderBy('id', 'desc')
            // Minus the new one, which this statement does not see yet.
            .offset(MAX_REVISIONS - 1),
        )
        .where((eb) => eb.exists(eb.selectFrom('kept').select('id'))),
    )
    .updateTable('articles')
    .set({
      author_kind,
      author_id,
      ...contentChanged,
      author_since: sql<Date>`CASE WHEN ${goesOn} THEN articles.author_since ELSE ${now} END`,
    })
    .where('articles.id', '=', articleId) as unknown as UpdateQueryBuilder<
    Tables,
    'articles',
    'articles',
    UpdateResult
  >;
}

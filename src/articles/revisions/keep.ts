import { sql, type UpdateQueryBuilder, type UpdateResult } from 'kysely';
import type { Author } from '../../context.ts';
import type { Tx } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import type { ArticleId } from '../../ids.ts';

/** Revisions that an article has at most; a further one takes the place of the oldest. */
export const MAX_REVISIONS = 50;
/** An author's saves within this many minutes of the first one are one. */
const RUN_MINUTES = 5;

/** Who wrote what an article says, as columns. */
const columnsOf = (author: Author['actor']) => {
  if (author.kind === 'api_key') return { author_kind: 'api_key', author_id: author.keyId } as const;
  if (author.kind === 'operator') return { author_kind: 'operator', author_id: null } as const;
  return { author_kind: 'job', author_id: author.jobId } as const;
};

/** Who wrote a new article, and since when, as columns. */
export const writtenBy = (author: Author['actor']) => ({
  ...columnsOf(author),
  author_since: sql<Date>`statement_timestamp()`,
});

/** What a revision has of its article. */
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

/**
 * The update of an article with which an author, a person or a job, replaces its title, document, meta fields or
 * keywords: to be completed by `.set(…)` with these, and executed. The same statement keeps what it replaces as a
 * revision, when another author wrote that or this one began to more than five minutes ago, and removes the oldest
 * revision beyond the fiftieth. So what stood there before another's change can be got back, and no save costs a
 * further round trip. Postgres copies a large document as it is stored, compressed.
 *
 * The transaction holds the article's lock already, from an earlier statement: what the author sees there is kept, and
 * writers of one article come one after another.
 * @param always keeps what is replaced also within the author's five minutes
 */
export function replaceContent(
  tx: Tx,
  articleId: ArticleId,
  author: Author['actor'],
  { always = false } = {},
): UpdateQueryBuilder<Tables, 'articles', 'articles', UpdateResult> {
  const { author_kind, author_id } = columnsOf(author);
  // One instant for the whole statement, later than that of any writer before.
  const now = sql<Date>`statement_timestamp()`;
  const goesOn = always
    ? sql<boolean>`false`
    : sql<boolean>`(articles.author_kind, articles.author_id) IS NOT DISTINCT FROM (${author_kind}, ${author_id}::uuid)
        AND articles.author_since > ${now} - make_interval(mins => ${RUN_MINUTES})`;
  // The empty draft that a translation begins with is nobody's work.
  const isWritten = sql<boolean>`(articles.author_kind IS NOT NULL OR jsonb_array_length(articles.document -> 'blocks') > 0)`;
  return tx
    .with('kept', (db) =>
      db
        .insertInto('article_revisions')
        .columns(['article_id', ...KEPT, 'created_at'])
        .expression(
          db
            .selectFrom('articles')
            .select(['id', ...KEPT, now.as('created_at')])
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
            // With the new one, which this statement does not see yet.
            .offset(MAX_REVISIONS - 1),
        )
        .where((eb) => eb.exists(eb.selectFrom('kept').select('id'))),
    )
    .updateTable('articles')
    .set({
      author_kind,
      author_id,
      author_since: sql<Date>`CASE WHEN ${goesOn} THEN articles.author_since ELSE ${now} END`,
    })
    .where('articles.id', '=', articleId) as unknown as UpdateQueryBuilder<
    Tables,
    'articles',
    'articles',
    UpdateResult
  >;
}

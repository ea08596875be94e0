import { sql } from 'kysely';
import { IMAGES_HASH } from '../articles/images.ts';
import { readVersionPage, versionsOf } from '../articles/list.ts';
import { summaryColumns } from '../articles/queries.ts';
import { toSummary } from '../articles/schemas.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { ListPage } from '../http/stream-list.ts';
import type { ArticleId } from '../ids.ts';
import { jobColumns, toJob } from '../jobs/queries.ts';
import type { ListedTranslation } from './schemas.ts';
import { countStatesOf } from './states.ts';

/** Identifies the content of an article, so that cached counts are found without reading it. */
const CONTENT_TAG =
  sql<string>`concat_ws('.', articles.xmin, extract(epoch FROM articles.updated_at), ${IMAGES_HASH})`.as(
    'content_tag',
  );

/** The latest job that writes each of these articles. */
async function latestJobs({ db, actor }: VerbContext, ids: readonly ArticleId[]) {
  if (ids.length === 0) return new Map<ArticleId, ListedTranslation['job']>();
  const jobs = await db
    .selectFrom('articles')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('jobs')
          .select(jobColumns.map((column) => `jobs.${column}` as const))
          .whereRef('jobs.article_id', '=', 'articles.id')
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .limit(1)
          .as('job'),
      (join) => join.onTrue(),
    )
    .select(jobColumns.map((column) => `job.${column}` as const))
    .where('articles.workspace_id', '=', actor.workspaceId)
    .where('articles.id', 'in', ids)
    .execute();
  return new Map<ArticleId, ListedTranslation['job']>(jobs.map((job) => [job.article_id, toJob(job)]));
}

/**
 * The language versions of the article's group after a language, itself included, by language tag: each with its latest job
 * and how it compares with its source (articles.read).
 * @returns ListedTranslations as JSON
 * @throws {ServiceError} RESOURCE_NOT_FOUND; SERVICE_UNAVAILABLE when too many large documents are being processed
 */
export async function readTranslations(
  context: VerbContext,
  articleId: ArticleId,
  after: string,
): Promise<ListPage<string>> {
  requirePermissions(context.actor, 'articles.read');
  const query = versionsOf(context, articleId, after)
    .leftJoin('article_provenance as known', 'known.article_id', 'articles.id')
    .select(summaryColumns.map((column) => `articles.${column}` as const))
    .select(['known.source_article_id', CONTENT_TAG, sql<string | null>`known.xmin::text`.as('known_tag')]);
  const { rows, last } = await readVersionPage(context, query, after);
  const jobOf = await latestJobs(
    context,
    rows.map(({ id }) => id),
  );
  const tagOf = new Map(rows.map((row) => [row.id, row.content_tag]));
  const elsewhere = rows.flatMap(({ source_article_id: id }) => (id === null || tagOf.has(id) ? [] : [id]));
  if (elsewhere.length > 0) {
    const ofOtherPages = versionsOf(context, articleId, '').where('articles.id', 'in', elsewhere);
    for (const row of await ofOtherPages.select(['articles.id', CONTENT_TAG]).execute()) {
      tagOf.set(row.id, row.content_tag);
    }
  }
  const states = await countStatesOf(
    context,
    rows.flatMap(({ id, source_article_id: sourceId, content_tag, known_tag }) => {
      const source = sourceId === null ? undefined : tagOf.get(sourceId);
      if (sourceId === null || source === undefined) return [];
      return { id, sourceId, tag: [sourceId, source, id, content_tag, known_tag].join() };
    }),
  );
  const listed = rows.map(
    ({ source_article_id: sourceId, known_tag, content_tag: _, ...row }): ListedTranslation => ({
      article: toSummary(row),
      job: jobOf.get(row.id) ?? null,
      sourceArticleId: sourceId,
      tracking: known_tag === null ? 'unmanaged' : states.has(row.id) ? 'managed' : 'source_gone',
      states: states.get(row.id) ?? null,
    }),
  );
  return { items: listed.map((translation) => JSON.stringify(translation)), last };
}

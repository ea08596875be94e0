import { type ExpressionBuilder, sql } from 'kysely';
import { summaryColumns } from '../articles/queries.ts';
import { toSummary } from '../articles/schemas.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tables } from '../db/tables.ts';
import { notFound } from '../errors.ts';
import type { ArticleId } from '../ids.ts';
import { jobColumns, toJob } from '../jobs/queries.ts';
import type { ListedTranslation } from './schemas.ts';
import { countStatesOf } from './states.ts';

/**
 * Lists every language version of the article's group, itself included, by language tag: each with its latest job and how
 * it compares with its source (articles.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND; SERVICE_UNAVAILABLE when too many large documents are being processed
 */
export async function listTranslations(
  context: VerbContext,
  articleId: ArticleId,
): Promise<ListedTranslation[]> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.read');
  const ofGroup = (eb: ExpressionBuilder<Tables, 'articles'>) =>
    eb.and([
      eb('articles.workspace_id', '=', actor.workspaceId),
      eb(
        'articles.translation_group_id',
        '=',
        eb
          .selectFrom('articles as self')
          .select('self.translation_group_id')
          .where('self.workspace_id', '=', actor.workspaceId)
          .where('self.id', '=', articleId),
      ),
    ]);
  const rows = await db
    .selectFrom('articles')
    .leftJoin('article_provenance as known', 'known.article_id', 'articles.id')
    .select(summaryColumns.map((column) => `articles.${column}` as const))
    .select('known.source_article_id')
    // Tags identify the content, so that cached counts are found without reading it.
    .select([
      sql<string>`concat_ws('.', articles.xmin, extract(epoch FROM articles.updated_at), (
        SELECT md5(json_agg(json_build_array(id, role, alt_text) ORDER BY id)::text)
        FROM assets WHERE article_id = articles.id))`.as('content_tag'),
      sql<string | null>`known.xmin::text`.as('known_tag'),
    ])
    .where(ofGroup)
    .orderBy(sql`articles.primary_language COLLATE "C"`)
    .execute();
  if (rows.length === 0) throw notFound('article');
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
    .where(ofGroup)
    .execute();
  const jobOf = new Map(jobs.map((job) => [job.article_id, toJob(job)]));
  const tagOf = new Map(rows.map((row) => [row.id, row.content_tag]));
  const states = await countStatesOf(
    context,
    rows.flatMap(({ id, source_article_id: sourceId, content_tag, known_tag }) => {
      const source = sourceId === null ? undefined : tagOf.get(sourceId);
      if (sourceId === null || source === undefined) return [];
      return { id, sourceId, tag: [sourceId, source, id, content_tag, known_tag].join() };
    }),
  );
  return rows.map(({ source_article_id: sourceId, known_tag, content_tag: _, ...row }) => ({
    article: toSummary(row),
    job: jobOf.get(row.id) ?? null,
    sourceArticleId: sourceId,
    tracking: known_tag === null ? 'unmanaged' : states.has(row.id) ? 'managed' : 'source_gone',
    states: states.get(row.id) ?? null,
  }));
}

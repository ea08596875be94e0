import { readVersionPage, versionsOf } from '../articles/list.ts';
import { type ArticleSummaryRow, summaryColumns } from '../articles/queries.ts';
import { toSummary } from '../articles/schemas.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { asService } from '../db/guard.ts';
import type { StateCounts } from '../document/refresh/types.ts';
import type { ListPage } from '../http/stream-list.ts';
import type { ArticleId } from '../ids.ts';
import { jobColumns, toJob } from '../jobs/queries.ts';
import type { Job } from '../jobs/schemas.ts';
import type { ListedTranslation } from './schemas.ts';
import { countStates, knownStates, stateColumns, type VersionStates } from './states.ts';

/** The latest job that writes each of these articles. */
export async function latestJobs({ db, actor }: VerbContext, ids: readonly ArticleId[]) {
  if (ids.length === 0) return new Map<ArticleId, Job>();
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
  return new Map<ArticleId, Job>(jobs.map((job) => [job.article_id, toJob(job)]));
}

/**
 * A version with its latest job and its states.
 * @param isUnknown whether its states are yet to be counted
 */
export const toListed = (
  row: ArticleSummaryRow & VersionStates,
  job: Job | undefined,
  states: StateCounts | null,
  isUnknown = false,
): ListedTranslation => ({
  article: toSummary(row),
  job: job ?? null,
  sourceArticleId: row.source_article_id,
  tracking: row.known_id === null ? 'unmanaged' : states === null && !isUnknown ? 'source_gone' : 'managed',
  states,
});

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
  const { db, actor } = context;
  requirePermissions(actor, 'articles.read');
  const query = versionsOf(context, articleId, after)
    .leftJoin('article_provenance as known', 'known.article_id', 'articles.id')
    .leftJoin('version_states as counted', 'counted.article_id', 'articles.id')
    .select(summaryColumns.map((column) => `articles.${column}` as const))
    .select(stateColumns);
  const { rows, last } = await readVersionPage(context, query, after);
  const jobOf = await latestJobs(
    context,
    rows.map(({ id }) => id),
  );
  const unknown = rows.filter((row) => knownStates(row) === undefined);
  const counted = await countStates(asService(db), actor.workspaceId, unknown);
  const items = rows.map((row) =>
    JSON.stringify(toListed(row, jobOf.get(row.id), knownStates(row) ?? counted.get(row.id) ?? null)),
  );
  return { items, last };
}

import { requirePermissions, type VerbContext } from '../../context.ts';
import { notFound } from '../../errors.ts';
import type { JobId } from '../../ids.ts';
import { reportOf } from './report.ts';
import type { Report } from './schemas.ts';

/**
 * The report of a translation or refresh (articles.read); while the job is open, its state so far.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, also for another kind of job
 */
export async function readReport({ db, actor }: VerbContext, jobId: JobId): Promise<Report> {
  requirePermissions(actor, 'articles.read');
  const job = await db
    .selectFrom('jobs')
    .innerJoin('translations', 'translations.job_id', 'jobs.id')
    .select([
      'jobs.id',
      'jobs.article_id',
      'jobs.status',
      'jobs.estimated_credits',
      'jobs.reserved_credits',
      'jobs.consumed_credits',
      'translations.source_language',
      'translations.target_language',
      'translations.provider',
    ])
    .where('jobs.workspace_id', '=', actor.workspaceId)
    .where('jobs.id', '=', jobId)
    .executeTakeFirstOrThrow(() => notFound('job'));
  const { entries, ...counts } = await reportOf(db, jobId);
  return {
    jobId: job.id,
    articleId: job.article_id,
    status: job.status,
    sourceLanguage: job.source_language,
    targetLanguage: job.target_language,
    engine: job.provider,
    credits: {
      estimated: job.estimated_credits,
      reserved: job.reserved_credits,
      consumed: job.consumed_credits,
    },
    ...counts,
    entries: entries.map(({ defects, ...entry }) => ({
      ...entry,
      defects: defects.map(({ code, message = null }) => ({ code, message })),
    })),
  };
}

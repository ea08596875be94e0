import { requirePermissions, type VerbContext } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { toCall } from '../../generation/call-report.ts';
import { readCalls } from '../../generation/calls.ts';
import type { JobId } from '../../ids.ts';
import { ONLY_IMAGE } from './admit.ts';
import type { ImageReport } from './schemas.ts';

/**
 * The report of a job that regenerates an image (articles.read); while the job is open, its state so far.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, also for another kind of job
 */
export async function readImageReport({ db, actor }: VerbContext, jobId: JobId): Promise<ImageReport> {
  requirePermissions(actor, 'articles.read');
  const job = await db
    .selectFrom('jobs')
    .innerJoin('generation_images as image', 'image.job_id', 'jobs.id')
    .select(['jobs.id', 'article_id', 'asset_id', 'status', 'quality', 'style', 'prompt', 'reason'])
    .select([
      'estimated_credits as estimated',
      'reserved_credits as reserved',
      'consumed_credits as consumed',
    ])
    .where('jobs.workspace_id', '=', actor.workspaceId)
    .where('jobs.id', '=', jobId)
    .where('purpose', '=', 'image')
    .where('image.number', '=', ONLY_IMAGE)
    .executeTakeFirstOrThrow(() => notFound('job'));
  const calls = await readCalls(db, job.id);
  return {
    jobId: job.id,
    articleId: job.article_id,
    assetId: job.asset_id,
    status: job.status,
    credits: { estimated: job.estimated, reserved: job.reserved, consumed: job.consumed },
    quality: job.quality,
    style: job.style,
    prompt: job.prompt,
    reason: job.reason,
    calls: calls.map(toCall),
  };
}

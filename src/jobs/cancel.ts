import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, notFound } from '../errors.ts';
import type { JobId } from '../ids.ts';
import { endJob } from './end.ts';
import { toJob } from './queries.ts';
import type { JobRuns } from './runs.ts';
import type { Job } from './schemas.ts';
import { countUnpaid } from './unpaid.ts';

/**
 * Cancels an open job (articles.generate). With this commit the job is CANCELLED, its article free (of a translation:
 * an empty draft) and its credits released. Its run is cancelled afterwards, which only saves work.
 * @throws {ServiceError} CONFLICT when the job has ended
 */
export async function cancelJob(
  context: VerbContext & { readonly runs: JobRuns },
  jobId: JobId,
): Promise<Job> {
  requirePermissions(context.actor, 'articles.generate');
  const cancelled = await inTransaction(context.db, async (tx) => {
    await tx
      .selectFrom('jobs')
      .select('id')
      .where('workspace_id', '=', context.actor.workspaceId)
      .where('id', '=', jobId)
      .executeTakeFirstOrThrow(() => notFound('job'));
    const ended = await endJob(tx, jobId, {
      status: 'CANCELLED',
      onLeftOver: context.runs.onLeftOver,
    });
    if (ended === null) throw conflict('The job has already ended; there is nothing to cancel.', 'job_ended');
    await countUnpaid(tx, context.runs.areas, ended, 'cancelled');
    await recordAudit(tx, context, {
      action: 'jobs.cancelled',
      targetType: 'job',
      targetId: jobId,
      details: { articleId: ended.article_id },
    });
    return ended;
  });
  await context.runs.cancel(context.db, cancelled, context.requestId);
  return toJob(cancelled);
}

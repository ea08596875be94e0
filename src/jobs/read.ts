import { requirePermissions, type VerbContext } from '../context.ts';
import { notFound } from '../errors.ts';
import type { JobId } from '../ids.ts';
import { jobColumns } from './queries.ts';
import { type Job, toJob } from './schemas.ts';

/** Reads one job of the actor's workspace (articles.read). */
export async function readJob({ db, actor }: VerbContext, jobId: JobId): Promise<Job> {
  requirePermissions(actor, 'articles.read');
  const row = await db
    .selectFrom('jobs')
    .select(jobColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', jobId)
    .executeTakeFirst();
  if (row === undefined) throw notFound('job');
  return toJob(row);
}

/** The calls for images: rows that bound what an image costs, beside those of the calls for the text. */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { JobId } from '../../ids.ts';
import { lockOpenJob } from '../../jobs/run-state.ts';
import type { CallOutcome } from '../calls.ts';
import { MAX_IMAGE_ANSWERED, MAX_IMAGE_UNANSWERED } from './limits.ts';

/**
 * Stores a call for an image before it is made (contract.md G104). Until it ends it counts as unanswered, and the image as
 * requested: if the job ends unpaid from now on, it counts.
 * @returns its id; null when the job has ended, the image needs no call, or may have no further one
 */
export async function beginImageCall(
  db: Database,
  { jobId, number, model }: { readonly jobId: JobId; readonly number: number; readonly model: string },
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    WITH job AS (${lockOpenJob(jobId)}), requested AS (
      UPDATE generation_images SET asked = true, unanswered = unanswered + 1
      FROM job WHERE generation_images.job_id = job.id AND number = ${number} AND state = 'prompted'
        AND calls < ${MAX_IMAGE_ANSWERED} AND unanswered < ${MAX_IMAGE_UNANSWERED}
      RETURNING generation_images.job_id
    )
    INSERT INTO generation_calls (workspace_id, job_id, image, model)
    SELECT jobs.workspace_id, jobs.id, ${number}, ${model} FROM requested JOIN jobs ON jobs.id = requested.job_id
    RETURNING id`.execute(db);
  return rows[0]?.id ?? null;
}

/** Notes how a call ended, once. */
export async function endImageCall(db: Database, id: string, outcome: CallOutcome): Promise<void> {
  await sql`
    WITH ended AS (
      UPDATE generation_calls SET outcome = ${outcome}, ended_at = clock_timestamp()
      WHERE id = ${id} AND outcome IS NULL
      RETURNING job_id, image
    )
    UPDATE generation_images AS drawn SET asked = asked AND state <> 'prompted',
      calls = calls + ${outcome === 'answered' ? 1 : 0}, unanswered = unanswered - ${outcome === 'unanswered' ? 0 : 1}
    FROM ended WHERE drawn.job_id = ended.job_id AND drawn.number = ended.image`.execute(db);
}

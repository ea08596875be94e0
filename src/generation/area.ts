import { sql } from 'kysely';
import { type JobArea, startRun } from '../jobs/start.ts';
import { imageWords } from './images/unpaid.ts';
import { webWords } from './research/unpaid.ts';

/** Registers generations, and runs that stop after the outline, with the paid-job runner. */
export const generationArea: JobArea = {
  start: ({ db, client, names }, job) =>
    startRun({ db, client }, job, {
      workflow: 'generateArticle',
      taskQueue: names.translation,
      // Ids only: access to Temporal must not expose customers' texts.
      summary: `${job.purpose === 'outline' ? 'outline' : 'generate'} ${job.article_id}`,
    }),
  async wordsMade(tx, jobId) {
    const { words } = await tx
      .selectFrom('generation_parts')
      // Each call with a response, and the one in flight. An approved outline was never requested. What was taken over
      // counts unless the run that made it has a count.
      .select(
        sql<number | string>`coalesce(sum(words * CASE
          WHEN content IS NULL THEN calls + asked::integer
          WHEN taken_over AND EXISTS (SELECT FROM generation_parts AS made JOIN unpaid_work USING (job_id)
            WHERE made.key = generation_parts.key AND made.job_id <> generation_parts.job_id) THEN calls
          WHEN asked THEN greatest(calls, 1)
          ELSE 0 END), 0)`.as('words'),
      )
      .where('job_id', '=', jobId)
      .executeTakeFirstOrThrow();
    return Number(words) + (await imageWords(tx, jobId)) + (await webWords(tx, jobId));
  },
};

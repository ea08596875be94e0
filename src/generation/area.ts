import { sql } from 'kysely';
import { type JobArea, startRun } from '../jobs/start.ts';

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
      // Each call with a response, and the one in flight. An approved outline was never requested.
      .select(
        sql<number | string>`coalesce(sum(words * CASE
          WHEN content IS NULL THEN calls + asked::integer
          WHEN asked THEN greatest(calls, 1)
          ELSE 0 END), 0)`.as('words'),
      )
      .where('job_id', '=', jobId)
      .executeTakeFirstOrThrow();
    return Number(words);
  },
};

import { sql } from 'kysely';
import type { JobArea } from '../jobs/runs.ts';
import { startRun } from '../jobs/runs.ts';

/** How generations, and runs that stop after the outline, take part in the foundation of paid jobs. */
export const generationArea: JobArea = {
  start: ({ client, names }, job) =>
    startRun(client, job, {
      workflow: 'generateArticle',
      taskQueue: names.translation,
      // Ids only: access to Temporal must not give access to what customers write.
      summary: `${job.purpose === 'outline' ? 'outline' : 'generate'} ${job.article_id}`,
    }),
  async wordsMade(tx, jobId) {
    const { words } = await tx
      .selectFrom('generation_parts')
      // Each call that was answered, and the one under way. An approved outline was asked of nobody.
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

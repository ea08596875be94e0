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
      .select((eb) => eb.fn.coalesce(eb.fn.sum<number | string>('words'), eb.val(0)).as('words'))
      .where('job_id', '=', jobId)
      .where('asked', '=', true)
      .executeTakeFirstOrThrow();
    return Number(words);
  },
};

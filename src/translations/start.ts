import { type StartJob, startRun } from '../jobs/runs.ts';

/** Starts the run of a translation. */
export const startTranslation: StartJob = async ({ db, client, names }, job) => {
  const { source_language, target_language } = await db
    .selectFrom('translations')
    .select(['source_language', 'target_language'])
    .where('job_id', '=', job.id)
    .executeTakeFirstOrThrow();
  return startRun(client, job, {
    workflow: 'translateArticle',
    taskQueue: names.translation,
    // Ids and languages only: access to Temporal must not give access to what customers write.
    summary: `translate ${job.article_id}: ${source_language} → ${target_language}`,
  });
};

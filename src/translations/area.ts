import { sql } from 'kysely';
import { type JobArea, startRun } from '../jobs/runs.ts';

/** How jobs that translate in batches take part in the foundation of paid jobs. */
const areaOf = (workflow: 'translateArticle' | 'refreshTranslation', verb: string): JobArea => ({
  async start({ db, client, names }, job) {
    const { source_language, target_language } = await db
      .selectFrom('translations')
      .select(['source_language', 'target_language'])
      .where('job_id', '=', job.id)
      .executeTakeFirstOrThrow();
    return startRun(client, job, {
      workflow,
      taskQueue: names.translation,
      // Ids and languages only: access to Temporal must not give access to what customers write.
      summary: `${verb} ${job.article_id}: ${source_language} → ${target_language}`,
    });
  },
  async wordsMade(tx, jobId) {
    const { words } = await tx
      .selectFrom('translation_segments')
      .innerJoin('translations', 'translations.job_id', 'translation_segments.job_id')
      .select((eb) => eb.fn.coalesce(eb.fn.sum<number | string>('words'), eb.val(0)).as('words'))
      .where('translation_segments.job_id', '=', jobId)
      .where(sql<boolean>`(target_text IS NOT NULL OR batch = ANY (asked_batches))`)
      .executeTakeFirstOrThrow();
    return Number(words);
  },
});

export const translationArea = areaOf('translateArticle', 'translate');
export const refreshArea = areaOf('refreshTranslation', 'refresh');

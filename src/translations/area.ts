import { sql } from 'kysely';
import { type JobArea, startRun } from '../jobs/start.ts';
import { STYLE_SHEET } from './engine-requests.ts';
import { isDeclined } from './report/judge.ts';

/** Words that a style sheet counts as unpaid work: about what a model writes for one. */
const STYLE_SHEET_WORDS = 200;

/** Registers jobs that translate in batches with the paid-job runner. */
const areaOf = (workflow: 'translateArticle' | 'refreshTranslation', verb: string): JobArea => ({
  async start({ db, client, names }, job) {
    const { source_language, target_language } = await db
      .selectFrom('translations')
      .select(['source_language', 'target_language'])
      .where('job_id', '=', job.id)
      .executeTakeFirstOrThrow();
    return startRun({ db, client }, job, {
      workflow,
      taskQueue: names.translation,
      // Ids and languages only: access to Temporal must not expose customers' texts.
      summary: `${verb} ${job.article_id}: ${source_language} → ${target_language}`,
    });
  },
  async wordsMade(tx, jobId, ended) {
    const { rows } = await sql<{ words: number }>`
      SELECT CASE WHEN ${STYLE_SHEET} = ANY (asked_batches) THEN ${STYLE_SHEET_WORDS}::integer ELSE 0 END
        + coalesce((SELECT sum(words) FROM translation_segments AS segment
            WHERE segment.job_id = translations.job_id AND same_as IS NULL AND from_memory IS NULL
              AND (${ended === 'failed'} OR NOT ${isDeclined})
              AND (target_text IS NOT NULL OR batch = ANY (asked_batches))), 0)::integer AS words
      FROM translations WHERE job_id = ${jobId}
    `.execute(tx);
    return rows[0]?.words ?? 0;
  },
});

export const translationArea = areaOf('translateArticle', 'translate');
export const refreshArea = areaOf('refreshTranslation', 'refresh');

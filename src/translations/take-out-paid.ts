import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { JobId } from '../ids.ts';

/**
 * Takes out of the unpaid work what a job has paid for (contract.md J15): texts that an earlier run over the same source
 * had finished, and that this one reused. Does nothing for a job that was not charged. The caller's transaction has taken
 * the lock of the wallet, as everybody who writes unpaid work.
 */
export async function takeOutPaid(tx: Tx, jobId: JobId): Promise<void> {
  await sql`
    WITH paid AS (
      UPDATE translation_segments AS made SET paid = true
      FROM jobs AS job
      JOIN translations AS present ON present.job_id = job.id
      JOIN translations AS earlier ON earlier.source_article_id = present.source_article_id
        AND earlier.target_language = present.target_language
      JOIN unpaid_work ON unpaid_work.job_id = earlier.job_id
      JOIN translation_segments AS reused ON reused.job_id = present.job_id AND reused.from_memory = 'machine'
      WHERE job.id = ${jobId} AND job.consumed_credits > 0
        AND made.job_id = earlier.job_id AND made.text_key = reused.text_key AND made.made_by = reused.made_by
        AND made.from_memory IS NULL AND made.same_as IS NULL AND made.target_text IS NOT NULL AND NOT made.paid
      RETURNING made.job_id, made.words
    ), sums AS (SELECT job_id, sum(words)::integer AS words FROM paid GROUP BY job_id)
    UPDATE unpaid_work SET words = greatest(unpaid_work.words - sums.words, 0)
    FROM sums WHERE unpaid_work.job_id = sums.job_id`.execute(tx);
}

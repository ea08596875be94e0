import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import type { ArticleId, JobId } from '../ids.ts';
import { lockOpenJob } from '../jobs/run-state.ts';
import type { Part } from './parts.ts';
import { webWordsSql } from './research/unpaid.ts';
import type { WritingBrief } from './writing/brief.ts';
import { PROMPT_VERSION } from './writing/prompts/index.ts';
import type { ArticleWriter } from './writing/writer.ts';

/** How long a failed run gives its parts, unless its settings are pruned earlier. */
const GIVES_FOR = sql`interval '7 days'`;

/** What a part is made from, but for the day. */
export interface MadeFrom {
  readonly articleId: ArticleId;
  readonly brief: WritingBrief;
  /** The job's parts in order. */
  readonly parts: readonly Part[];
}

/** The key of a part: a hash of all that it is made from, the parts before it included (contract.md G89). */
export function partKey(
  { articleId, brief: { date: _, ...brief }, parts }: MadeFrom,
  { part, kind }: Pick<Part, 'part' | 'kind'>,
  { name, model }: Pick<ArticleWriter, 'name' | 'model'>,
): string {
  const earlier = parts.filter((other) => other.part < part).map(({ content }) => content);
  return hash('sha256', JSON.stringify([articleId, part, kind, name, model, PROMPT_VERSION, brief, earlier]));
}

/**
 * Takes a part over from a failed run of the same article, unless it is written or the request wants all of it fresh
 * (contract.md G89). Parts that were edited come with the edits, and pages with what was made of them.
 * @returns whether it is written now
 */
export async function takeOverPart(
  db: Database,
  { jobId, part, key }: { readonly jobId: JobId; readonly part: number; readonly key: string },
): Promise<boolean> {
  const { rows } = await sql`
    WITH job AS (${lockOpenJob(jobId)}), given AS (
      SELECT made.job_id, made.kind FROM job
      JOIN generations AS present ON present.job_id = job.id AND NOT present.fresh
      JOIN generation_parts AS planned ON planned.job_id = job.id AND planned.part = ${part} AND planned.content IS NULL
      JOIN generation_parts AS made ON made.key = ${key} AND made.content IS NOT NULL
      JOIN generations AS source ON source.job_id = made.job_id
        AND source.config IS NOT NULL AND source.failure_cause IS NULL
      JOIN jobs AS failed ON failed.id = made.job_id
        AND failed.status = 'FAILED' AND failed.ended_at > now() - ${GIVES_FOR}
      ORDER BY failed.ended_at DESC, failed.id LIMIT 1 FOR UPDATE OF planned
    ), taken AS (
      UPDATE generation_parts AS own SET content = made.content, words = made.words, revised = made.revised,
        key = ${key}, taken_over = true, asked = true
      FROM given JOIN generation_parts AS made USING (job_id)
      WHERE own.job_id = ${jobId} AND own.part = ${part} AND made.part = ${part}
      RETURNING own.part
    ), pages AS (
      INSERT INTO generation_pages (job_id, purpose, number, id, address, tries, url, title, site, published_at, fetched_at,
        hash, text)
      SELECT ${jobId}, purpose, number, id, address, 0, url, title, site, published_at, fetched_at, hash, text
      FROM given JOIN generation_pages AS made USING (job_id)
      WHERE text IS NOT NULL AND purpose = CASE given.kind WHEN 'notes' THEN 'research' WHEN 'verdicts' THEN 'claims' END
      ON CONFLICT DO NOTHING
    ), edited AS (
      UPDATE generation_parts AS own SET revised = made.revised
      FROM given JOIN generation_parts AS made USING (job_id)
      WHERE given.kind IN ('edits', 'corrections') AND own.job_id = ${jobId} AND own.part < ${part} AND made.part = own.part
    )
    SELECT part FROM taken`.execute(db);
  return rows.length > 0;
}

/**
 * Takes out of the unpaid work what a job has paid for (contract.md G90): parts that failed runs had made, and that it took
 * over, with what was searched and read for them. Each counted for the first run that has a count. Does nothing for a job that was not charged. The caller's
 * transaction has taken the lock of the wallet.
 */
export async function takeOutPaidParts(tx: Tx, jobId: JobId): Promise<void> {
  await sql`
    WITH counted AS (
      SELECT DISTINCT ON (made.key) made.job_id, made.words + CASE
        WHEN made.kind = 'notes' THEN ${webWordsSql(sql`made.job_id`, sql`'research'`)}
        WHEN made.kind = 'verdicts' THEN ${webWordsSql(sql`made.job_id`, sql`'claims'`)}
        ELSE 0 END AS words
      FROM jobs AS job
      JOIN generation_parts AS reused ON reused.job_id = job.id AND reused.taken_over
      JOIN generation_parts AS made ON made.key = reused.key AND made.job_id <> job.id
      JOIN unpaid_work ON unpaid_work.job_id = made.job_id
      WHERE job.id = ${jobId} AND job.consumed_credits > 0
      ORDER BY made.key, unpaid_work.created_at
    ), sums AS (SELECT job_id, sum(words)::integer AS words FROM counted GROUP BY job_id)
    UPDATE unpaid_work SET words = greatest(unpaid_work.words - sums.words, 0)
    FROM sums WHERE unpaid_work.job_id = sums.job_id`.execute(tx);
  // Paid once: they are not taken over again.
  await sql`
    UPDATE generation_parts AS made SET key = NULL
    FROM generation_parts AS reused
    WHERE reused.job_id = ${jobId} AND reused.taken_over AND made.key = reused.key AND made.job_id <> ${jobId}
      AND EXISTS (SELECT FROM jobs WHERE id = ${jobId} AND consumed_credits > 0)`.execute(tx);
}

import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../db/database.ts';
import type { JobId } from '../../ids.ts';

/** Words that a search, or a page, counts as each time it is requested (contract.md N29). */
const WORDS = 50;

/** SQL: the words that the searches and pages of a job count as unpaid work. @param purpose those of one alone */
export const webWordsSql = (jobId: RawBuilder<unknown>, purpose: RawBuilder<unknown> | null = null) => {
  const those = purpose === null ? sql`` : sql`AND purpose = ${purpose}`;
  return sql<number | string>`(SELECT coalesce(sum(tries), 0) * ${WORDS}::integer FROM (
    SELECT tries FROM generation_searches WHERE job_id = ${jobId} ${those}
    UNION ALL SELECT tries FROM generation_pages WHERE job_id = ${jobId} ${those}) AS requested)`;
};

/** The same of a job. */
export async function webWords(tx: Tx, jobId: JobId): Promise<number> {
  const { rows } = await sql<{
    words: number | string;
  }>`SELECT ${webWordsSql(sql`${jobId}`)} AS words`.execute(tx);
  return Number(rows[0]?.words ?? 0);
}

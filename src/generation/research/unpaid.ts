import { sql } from 'kysely';
import type { Tx } from '../../db/database.ts';
import type { JobId } from '../../ids.ts';

/** Words that a search, or a page, counts as each time it is requested (contract.md N29). */
const WORDS = 50;

/** The words that the searches and pages of a job count as unpaid work. */
export async function webWords(tx: Tx, jobId: JobId): Promise<number> {
  const { rows } = await sql<{ tries: number | string }>`
    SELECT coalesce(sum(tries), 0) AS tries FROM (
      SELECT tries FROM generation_searches WHERE job_id = ${jobId}
      UNION ALL SELECT tries FROM generation_pages WHERE job_id = ${jobId}) AS requested`.execute(tx);
  return WORDS * Number(rows[0]?.tries ?? 0);
}

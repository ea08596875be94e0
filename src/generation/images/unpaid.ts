import { sql } from 'kysely';
import type { Tx } from '../../db/database.ts';
import type { JobId } from '../../ids.ts';

/** Words that a drawn image counts as, by quality (contract.md G111). */
const WORDS = { standard: 500, hd: 1_500 } as const;

/** The words that the images of a job count as unpaid work: each call with a response, and the one in flight. */
export async function imageWords(tx: Tx, jobId: JobId): Promise<number> {
  const { words } = await tx
    .selectFrom('generation_images')
    .select(
      sql<
        number | string
      >`coalesce(sum(CASE quality WHEN 'hd' THEN ${WORDS.hd}::integer ELSE ${WORDS.standard}::integer END
        * CASE WHEN state = 'prompted' THEN calls + asked::integer ELSE calls END), 0)`.as('words'),
    )
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  return Number(words);
}

import { sql } from 'kysely';
import type { Tx } from '../../db/database.ts';
import { MAX_TEXT } from '../../document/format/schema.ts';
import { type Defect, hard } from '../../document/translation/checks/defects.ts';
import { fieldKey } from '../../document/translation/segments.ts';
import type { JobId } from '../../ids.ts';

const OVERLONG: Defect = hard(
  'limit',
  `the translation has more than ${MAX_TEXT} characters: split the text of the source`,
);

/**
 * Marks texts as left that no client could save as they were translated (contract.md V38). Their translations stay for
 * the memory.
 * @param fields their keys, without the numbers of parts
 */
export async function leaveOverlong(tx: Tx, jobId: JobId, fields: ReadonlySet<string>): Promise<void> {
  if (fields.size === 0) return;
  const segments = await tx
    .selectFrom('translation_segments')
    .select('key')
    .where('job_id', '=', jobId)
    .execute();
  const keys = segments.flatMap(({ key }) => (fields.has(fieldKey(key)) ? key : []));
  await sql`
    UPDATE translation_segments
    SET outcome = 'left', from_memory = NULL, defects = ${JSON.stringify([OVERLONG])}::jsonb
    WHERE job_id = ${jobId} AND key = ANY (${keys}::text[]) AND outcome IS DISTINCT FROM 'left'
  `.execute(tx);
}

/** Sections that no call made usable, and that the article is finished without (contract.md G61). */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import { bodyWords, type GenerationConfig } from './config.ts';
import type { Outline } from './outline.ts';
import type { WrittenPart } from './writing/brief.ts';

/** Planned words of all sections that are left out, as a share of the body's. */
const MAX_SHARE = 0.2;

const NOTHING: WrittenPart = { blocks: [], words: 0, mended: {} };

/** How many sections go when one is left out: with one of level 2 those of level 3 below it. */
export function sectionsLeftOut({ sections }: Pick<Outline, 'sections'>, index: number): number {
  if (sections[index]?.level !== 2) return 1;
  const next = sections.findIndex(({ level }, at) => at > index && level === 2);
  return (next === -1 ? sections.length : next) - index;
}

/**
 * Leaves out sections that have no text, all of them or none, once.
 * @param parts their numbers
 * @returns false, without a change, when too much would be missing
 */
export async function leaveOut(
  db: Database,
  jobId: JobId,
  parts: readonly number[],
  config: GenerationConfig,
): Promise<boolean> {
  const most = Math.floor(bodyWords(config) * MAX_SHARE);
  const numbers = sql`${[...parts]}::integer[]`;
  const { rows } = await sql<{ done: boolean }>`
    WITH own AS (
      SELECT count(*) FILTER (WHERE part = ANY (${numbers}) AND (content IS NULL OR left_out)) = ${parts.length}
        AND sum(words) FILTER (WHERE left_out OR part = ANY (${numbers})) <= ${most} AS fits
      FROM generation_parts WHERE job_id = ${jobId}
    ), updated AS (
      UPDATE generation_parts SET left_out = true, asked = calls > 0, content = ${JSON.stringify(NOTHING)}::jsonb
      FROM own WHERE own.fits AND job_id = ${jobId} AND part = ANY (${numbers}) AND content IS NULL
    )
    SELECT fits AS done FROM own`.execute(db);
  return rows[0]?.done === true;
}

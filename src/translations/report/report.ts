/** The report of a job: computed from its segments, and stored before they are pruned. */
import { sql } from 'kysely';
import type { Queryable } from '../../db/database.ts';
import {
  type FoundDefect,
  OUTCOMES,
  type Outcome,
  placeOf,
  type ReportEntry,
  type StoredReport,
  type Tally,
} from '../../document/translation/report.ts';
import type { SegmentKind } from '../../document/translation/segments.ts';
import type { JobId } from '../../ids.ts';

/** Entries of a report: the worst texts. */
const MAX_ENTRIES = 500;

/** The stored report of a job, else one computed from its segments. */
export async function reportOf(db: Queryable, jobId: JobId): Promise<StoredReport> {
  const { report } = await db
    .selectFrom('translations')
    .select('report')
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  return report ?? (await computeReport(db, jobId));
}

/** Stores the report of a job, which outlives its segments. */
export const keepReport = async (db: Queryable, jobId: JobId, report?: StoredReport): Promise<void> => {
  await db
    .updateTable('translations')
    .set({ report: JSON.stringify(report ?? (await computeReport(db, jobId))) })
    .where('job_id', '=', jobId)
    .execute();
};

/** The report without messages, which may quote the article. */
export const withoutWords = (report: StoredReport): StoredReport => ({
  ...report,
  entries: report.entries.map((entry) => ({
    ...entry,
    defects: entry.defects.map(({ code }) => ({ code })),
  })),
});

/** Outcome of a segment. Earlier releases stored none: a translated one without an outcome is clean. */
const OUTCOME = sql<Outcome | null>`CASE WHEN from_memory IS NOT NULL THEN 'memory'
  WHEN outcome IS NULL AND target_text IS NOT NULL THEN 'clean' ELSE outcome END`;

async function computeReport(db: Queryable, jobId: JobId): Promise<StoredReport> {
  const counts = await db
    .selectFrom('translation_segments')
    .select([
      OUTCOME.as('outcome'),
      sql<number>`count(*)::integer`.as('texts'),
      sql<number>`coalesce(sum(words), 0)::integer`.as('words'),
    ])
    .where('job_id', '=', jobId)
    .groupBy(OUTCOME)
    .execute();
  const { rows } = await sql<{
    key: string;
    kind: SegmentKind;
    outcome: Outcome;
    words: number;
    defects: readonly FoundDefect[] | null;
  }>`
    SELECT * FROM (
      SELECT key, kind, ${OUTCOME} AS outcome, words, defects, position FROM translation_segments
      WHERE job_id = ${jobId}
    ) AS text
    WHERE outcome <> 'clean'
    ORDER BY array_position(${[...OUTCOMES]}::text[], outcome), position
    LIMIT ${MAX_ENTRIES}
  `.execute(db);
  const ids = rows.length === 0 ? NO_IDS : await idsOf(db, jobId);
  const entries = rows.map(
    ({ key, kind, outcome, words, defects }): ReportEntry => ({
      outcome,
      kind,
      ...placeOf(key, ids),
      words,
      defects: (defects ?? []).map(({ code, message }) => ({
        code,
        ...(message === undefined ? {} : { message }),
      })),
    }),
  );
  const tally = (of: 'texts' | 'words'): Tally => {
    const countOf = (outcome: Outcome | null) => counts.find((row) => row.outcome === outcome)?.[of] ?? 0;
    const total = counts.reduce((sum, row) => sum + row[of], 0);
    return {
      total,
      left: countOf('left'),
      accepted: countOf('accepted'),
      repaired: countOf('repaired'),
      memory: countOf('memory'),
      clean: countOf('clean'),
      open: countOf(null),
    };
  };
  const texts = tally('texts');
  const listed = texts.total - texts.clean - texts.open;
  return { texts, words: tally('words'), entries, omitted: listed - entries.length };
}

const NO_IDS = { blocks: [], assets: [] };

/** Ids of the blocks and images, in the order that positions in segment keys refer to. */
async function idsOf(
  db: Queryable,
  jobId: JobId,
): Promise<{ blocks: readonly string[]; assets: readonly string[] }> {
  const { rows } = await sql<{ blocks: string[] | null; assets: string[] | null }>`
    SELECT jsonb_path_query_array(texts, '$.document.blocks[*].id') AS blocks,
      jsonb_path_query_array(texts, '$.assets[*].id') AS assets
    FROM translations, LATERAL (SELECT snapshot -> 'plan' -> 'partial' AS texts) AS planned
    WHERE job_id = ${jobId}
  `.execute(db);
  return { blocks: rows[0]?.blocks ?? [], assets: rows[0]?.assets ?? [] };
}

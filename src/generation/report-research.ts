/** What the report of a generation says of research and fact checking (contract.md N34). */
import { z } from 'zod';
import type { Queryable } from '../db/database.ts';
import type { PartKind, SearchPurpose, VERDICTS } from '../db/tables.ts';
import type { JobId } from '../ids.ts';
import { ofKind } from './parts.ts';
import { editingSchema, repairs } from './report-finish.ts';
import { MAX_TRIES, readPageRows, readSearches } from './research/rows.ts';

const count = z.int().min(0);

const gathered = {
  searches: count.describe('Searches that were made'),
  failedSearches: count.describe('Those without a response: the search engine was away'),
  pagesRead: count,
  pagesNotUsed: z
    .array(z.object({ url: z.string(), reason: z.string() }))
    .describe(
      'Pages that were requested and are not used, with the reason: `speaks to models` for one that gives orders to models',
    ),
};

export const researchSchema = z
  .object({
    ...gathered,
    notes: count.describe('Quotes that the writer was given'),
    delivered: z
      .boolean()
      .describe('Three sources were read, and at least one note went to the outline: research is charged'),
    repairs,
  })
  .nullable()
  .describe(
    'Research before the outline; null for a run whose price has none. Searches and pages until RETENTION_DAYS are over',
  );

export const factsSchema = z
  .object({
    ...gathered,
    claims: z.object({ supported: count, contradicted: count, not_found: count }).describe('By verdict'),
    compared: count.describe('Claims that were compared with a passage of a source: with one, it is charged'),
    corrections: editingSchema.describe("The editor's second pass, over contradicted claims alone"),
    repairs,
  })
  .nullable()
  .describe('Fact checking after the text is written; null for a run whose price does not include it');

/** A part as the report reads it. */
export interface ResearchPart {
  readonly kind: PartKind;
  readonly repairs: string[];
  /** Of notes and verdicts: counts of what they hold. */
  readonly found: unknown;
}

interface Found {
  readonly notes?: number;
  readonly compared?: number;
  readonly verdicts?: readonly (typeof VERDICTS)[number][];
}

/** Research and facts of a report. @param corrections the second pass, as the report shows the first */
export async function researchOf(
  db: Queryable,
  job: { readonly id: JobId; readonly researched: boolean },
  parts: readonly ResearchPart[],
  corrections: z.infer<typeof editingSchema>,
): Promise<{ research: z.infer<typeof researchSchema>; facts: z.infer<typeof factsSchema> }> {
  const repairsOf = (...kinds: PartKind[]): string[] =>
    kinds.flatMap((kind) => ofKind(parts, kind).flatMap((part) => part.repairs));
  const foundIn = (kind: PartKind): Found => (ofKind(parts, kind)[0]?.found ?? {}) as Found;
  const has = (kind: PartKind): boolean => ofKind(parts, kind).length > 0;
  const verdicts = foundIn('verdicts').verdicts ?? [];
  return {
    research: has('notes')
      ? {
          ...(await gatheredFor(db, job.id, 'research')),
          notes: foundIn('notes').notes ?? 0,
          delivered: job.researched,
          repairs: repairsOf('questions', 'notes'),
        }
      : null,
    facts: has('verdicts')
      ? {
          ...(await gatheredFor(db, job.id, 'claims')),
          claims: {
            supported: verdicts.filter((verdict) => verdict === 'supported').length,
            contradicted: verdicts.filter((verdict) => verdict === 'contradicted').length,
            not_found: verdicts.filter((verdict) => verdict === 'not_found').length,
          },
          compared: foundIn('verdicts').compared ?? 0,
          corrections,
          repairs: repairsOf('claims', 'verdicts'),
        }
      : null,
  };
}

async function gatheredFor(db: Queryable, jobId: JobId, purpose: SearchPurpose) {
  const searches = await readSearches(db, { jobId, purpose });
  const pages = await readPageRows(db, { jobId, purpose });
  return {
    searches: searches.filter(({ tries }) => tries > 0).length,
    failedSearches: searches.filter(({ tries, found }) => tries >= MAX_TRIES && found === null).length,
    pagesRead: pages.filter(({ hash }) => hash !== null).length,
    pagesNotUsed: pages.flatMap(({ address, refusal }) =>
      refusal === null ? [] : [{ url: address, reason: refusal }],
    ),
  };
}

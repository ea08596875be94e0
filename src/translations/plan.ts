import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { StoredContext } from '../db/tables.ts';
import { inTransaction } from '../db/transaction.ts';
import {
  type PlannedSegment,
  type PlannedTexts,
  placeholdersOf,
  planBatches,
  revisedFrom,
} from '../document/translation/planned.ts';
import { FIELD_KINDS, isField } from '../document/translation/segments.ts';
import { MAX_TERMS, type StyleSheet } from '../document/translation/style-sheet.ts';
import { glossaryIn, occurringIn } from '../guidance/glossary/terms.ts';
import { styleOf } from '../guidance/styles/styles.ts';
import type { ArticleId, JobId, WorkspaceId } from '../ids.ts';
import { lockOpenJob } from '../jobs/run-state.ts';
import type { TranslationProvider } from '../providers/types.ts';
import { doTask } from '../threads/pool.ts';
import { inTheBackground } from '../threads/share.ts';
import { lookUpMemory } from './memory/look-up.ts';
import { readContent } from './read-source.ts';
import { readVersion } from './refresh/version.ts';
import { findSheet } from './style-sheet/queries.ts';

/** Bounds of one provider call: small enough for a cheap repair, large enough for context. */
const BATCH = { maxWords: 400, maxSegments: 40 } as const;
/** Above this many batches, a batch holds more short texts, so that the run's history stays small. */
const MANY_BATCHES = 250;
const MAX_SEGMENTS_OF_MANY = 200;

/** What a plan needs to know of the engine. */
type PlanningEngine = Pick<TranslationProvider, 'name' | 'edition' | 'goesByVersion'>;

/** The engine requests that a job still has to make. */
export interface Plan {
  readonly batches: number;
  /** Batches of the body: all but the first, when that has the title, meta texts and keywords. */
  readonly bodyBatches: number;
  readonly words: number;
  /** Whether the version has no style sheet, or one that takes further terms. */
  readonly hasRoom: boolean;
}

/**
 * Splits what a job translates into segments, one row each, groups them into batches and freezes the prompt context. A
 * translated row is never requested again, a text in the memory not at all, and of equal texts only one.
 * @returns the same result each time, until the first batch has run; null for a job that has ended
 */
export async function planSegments(db: Database, jobId: JobId, engine: PlanningEngine): Promise<Plan | null> {
  const job = await db
    .selectFrom('translations')
    .innerJoin('jobs', 'jobs.id', 'translations.job_id')
    .select([
      'jobs.workspace_id as workspaceId',
      'jobs.project_id as projectId',
      'jobs.article_id as articleId',
      'jobs.purpose',
      'source_article_id as sourceId',
      'source_language as source',
      'target_language as target',
      sql<string | null>`snapshot::text`.as('snapshot'),
      sql<boolean>`(snapshot -> 'anew')::boolean`.as('bypassMemory'),
    ])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const { workspaceId, projectId, snapshot } = job;
  if (snapshot === null) return null;
  const languages = { sourceLanguage: job.source, targetLanguage: job.target };
  const isFirst = job.purpose === 'translate';
  const [source, version] = isFirst ? [null, null] : await readSides(db, job, engine);
  const { title, outline, segments, versionTitle } = await inTheBackground(workspaceId, () =>
    doTask('planSegments', snapshot, source, version),
  );
  const texts = segments.map(({ text }) => text);
  const glossary = await glossaryIn(db, workspaceId, job, texts);
  const style = await styleOf(db, projectId, job.target);
  const { sheet, isFull } = await sheetFor(db, job, texts);
  const { found, keys } = await inTheBackground(workspaceId, () =>
    lookUpMemory(db, {
      ...job,
      jobId,
      languages,
      segments,
      engine,
      glossary,
      style,
      sheet,
    }),
  );
  const left = segments.filter(({ key }) => !found.has(key));
  const sameAs = findEqual(left);
  const sent = left.filter(({ key }) => !sameAs.has(key));
  const fields = sent.filter(({ kind }) => isField(kind));
  const body = toBatches(sent.filter(({ kind }) => !isField(kind)));
  const batches = fields.length > 0 ? [fields, ...body] : body;
  // With what goes with single texts, at most four times what is translated (contract.md V58).
  const isTitleSent = versionTitle && versionTitle.length * batches.length <= lengthOf(sent);
  const batchOf = new Map(batches.flatMap((batch, at) => batch.map(({ key }) => [key, at] as const)));
  // A single request may contain all headings anyway.
  const sendsOutline =
    body.length > 1 || !isFirst || segments.some(({ key, kind }) => kind === 'heading' && found.has(key));
  const context: StoredContext = {
    title,
    outline: sendsOutline ? outline : [],
    glossary,
    style,
    sheet,
    ...(isTitleSent ? { versionTitle } : {}),
    around: batches.map(around),
    placeholders: batches.map(placeholdersOf),
  };
  return inTransaction(db, async (tx) => {
    const { rows: open } = await lockOpenJob(jobId).execute(tx);
    if (open.length === 0) return null;
    await sql`
      INSERT INTO translation_segments
        (job_id, key, kind, position, same_as, batch, source_hash, source_text, words,
          target_text, from_memory, text_key, made_by, in_version)
      SELECT ${jobId}, * FROM unnest(
        ${segments.map(({ key }) => key)}::text[],
        ${segments.map(({ kind }) => kind)}::text[],
        ${segments.map((_, position) => position)}::integer[],
        ${segments.map(({ key }) => sameAs.get(key) ?? null)}::text[],
        ${segments.map(({ key }) => batchOf.get(sameAs.get(key) ?? key) ?? 0)}::integer[],
        ${texts.map((text) => hash('sha256', text))}::text[],
        ${texts}::text[],
        ${segments.map(({ words }) => words)}::integer[],
        ${segments.map(({ key }) => found.get(key)?.text ?? null)}::text[],
        ${segments.map(({ key }) => found.get(key)?.layer ?? null)}::text[],
        ${segments.map(({ key }) => keys.get(key)?.text ?? null)}::text[],
        ${segments.map(({ key }) => keys.get(key)?.maker ?? null)}::text[],
        ${segments.map(({ inVersion }) => (inVersion ? JSON.stringify(inVersion) : null))}::jsonb[]
      )
      ON CONFLICT DO NOTHING
    `.execute(tx);
    // The rows decide: another release may have planned this job with other bounds.
    const plan = await tx
      .selectFrom('translation_segments')
      .select([
        sql<number>`coalesce(max(batch) FILTER (WHERE from_memory IS NULL) + 1, 0)`.as('batches'),
        sql<number>`(count(DISTINCT batch) FILTER (WHERE from_memory IS NULL
          AND kind <> ALL (${FIELD_KINDS}::text[])))::integer`.as('bodyBatches'),
        sql<number>`coalesce(sum(words) FILTER (WHERE target_text IS NULL AND same_as IS NULL), 0)::integer`.as(
          'words',
        ),
      ])
      .where('job_id', '=', jobId)
      .executeTakeFirstOrThrow();
    await tx
      .updateTable('translations')
      .set({
        provider: engine.name,
        batch_count: plan.batches,
        context: sql<string>`coalesce(context, ${JSON.stringify(context)}::jsonb)`,
      })
      .where('job_id', '=', jobId)
      .execute();
    return { ...plan, hasRoom: !isFull };
  });
}

/** The version's style sheet with the terms that occur in the texts, null without one; and whether it takes no more. */
async function sheetFor(
  db: Database,
  {
    workspaceId,
    articleId,
    source,
  }: { readonly workspaceId: WorkspaceId; readonly articleId: ArticleId; readonly source: string },
  texts: readonly string[],
): Promise<{ sheet: StyleSheet | null; isFull: boolean }> {
  const row = await findSheet(db, workspaceId, articleId).executeTakeFirst();
  if (row === undefined) return { sheet: null, isFull: false };
  const { sheet } = row;
  return {
    sheet: { ...sheet, terms: await occurringIn(workspaceId, sheet.terms, texts, source) },
    isFull: sheet.terms.length >= MAX_TERMS,
  };
}

/** Source and version of a refresh as they are now; null for a source that was deleted, and for an engine that does not go by the version. */
async function readSides(
  db: Database,
  {
    workspaceId,
    articleId,
    sourceId,
  }: {
    readonly workspaceId: WorkspaceId;
    readonly articleId: ArticleId;
    readonly sourceId: ArticleId | null;
  },
  { goesByVersion = false }: PlanningEngine,
) {
  const source = sourceId === null ? undefined : await readContent(db, workspaceId, sourceId);
  const version = goesByVersion ? await readVersion(db, { workspaceId, articleId }) : undefined;
  const { content, provenance = null } = version ?? {};
  return [source ?? null, content === undefined ? null : { content, provenance }] as const;
}

/** By key, the first segment with the same text and kind, and the same text in the version. */
function findEqual(segments: PlannedTexts['segments']): Map<string, string> {
  const firsts = new Map<string, string>();
  const sameAs = new Map<string, string>();
  for (const segment of segments) {
    const { key, kind, text } = segment;
    const asked = `${kind} ${text} ${revisedFrom(segment) ?? ''}`;
    const first = firsts.get(asked);
    if (first === undefined) firsts.set(asked, key);
    else sameAs.set(key, first);
  }
  return sameAs;
}

/** Groups segments into batches; above {@link MANY_BATCHES} into larger ones. */
function toBatches(segments: PlannedTexts['segments']): PlannedSegment[][] {
  const batches = planBatches(segments, BATCH);
  return batches.length <= MANY_BATCHES
    ? batches
    : planBatches(segments, { ...BATCH, maxSegments: MAX_SEGMENTS_OF_MANY });
}

const lengthOf = (segments: readonly PlannedSegment[]): number =>
  segments.reduce((sum, { text }) => sum + text.length, 0);

const around = (batch: readonly PlannedSegment[]) => ({
  before: batch[0]?.before ?? '',
  after: batch.at(-1)?.after ?? '',
});

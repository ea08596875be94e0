/** Draws the style sheet of a version, once for all batches of a job and for the version's later jobs. */
import { sql } from 'kysely';
import type { Database, Tx } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import { addTerms, DECISIONS, MAX_TERMS, type StyleSheet } from '../../document/translation/style-sheet.ts';
import type { JobId } from '../../ids.ts';
import { lockOpenJob } from '../../jobs/run-state.ts';
import type { Style, TranslationProvider } from '../../providers/types.ts';
import { markRequested, requestEngine, STYLE_SHEET } from '../engine-requests.ts';
import { voiceKey } from '../memory/voice.ts';
import type { Plan } from '../plan.ts';
import { growSheet } from './queries.ts';
import { readSample, usablePairs } from './terms.ts';

/** Jobs with fewer untranslated words draw none. */
const MIN_WORDS = 300;
/** Untranslated words for each pair that a model may list. */
const WORDS_PER_PAIR = 20;
/** Length of all new pairs as a share of the untranslated texts: they go with each request. */
const MAX_SHARE = 1 / 5;

/** True when a sheet is worth a call (contract.md V18): texts of a single request agree anyway. */
export const wantsSheet = (
  provider: Pick<TranslationProvider, 'styleSheet'>,
  { bodyBatches, words, hasRoom }: Plan,
): boolean => provider.styleSheet !== undefined && bodyBatches > 1 && words > MIN_WORDS && hasRoom;

/**
 * Draws the sheet of a job's version and stores it with both; of a version that has a sheet it only adds terms. Does
 * nothing when the job's sheet is frozen.
 * @returns number of terms in the job's sheet
 * @throws {ProviderError} when the engine failed or declined
 */
export async function drawStyleSheet(
  { db, provider }: { db: Database; provider: TranslationProvider },
  { jobId, signal }: { jobId: JobId; signal: AbortSignal },
): Promise<number> {
  const marked = await markRequested(db, jobId, STYLE_SHEET);
  if (marked === undefined) return 0;
  const { context, around: _, ...languages } = marked.prompt;
  const earlier = context?.sheet ?? null;
  if (marked.frozen || context === undefined) return earlier?.terms.length ?? 0;
  const { texts, words, characters } = await readSample(db, jobId);
  const limit = Math.min(Math.ceil(words / WORDS_PER_PAIR), MAX_TERMS - (earlier?.terms.length ?? 0));
  const drawn = await requestEngine(
    db,
    marked.workspaceId,
    { jobId, batch: STYLE_SHEET },
    async () => provider.styleSheet?.({ ...languages, context, texts, limit, signal }) ?? null,
  );
  if (drawn === null) return 0;
  const taken = [...context.glossary, ...(earlier?.terms ?? [])].map(({ source }) => source);
  const terms = usablePairs(drawn.terms, { texts, taken, limit, room: characters * MAX_SHARE });
  return store(db, jobId, { style: context.style, earlier, drawn: { ...drawn, terms } });
}

/** What was drawn for a job, the earlier sheet that it goes by, null without one, and the project's style. */
interface Drawn {
  readonly style: Style | null;
  readonly earlier: StyleSheet | null;
  readonly drawn: StyleSheet;
}

/** Stores the job's sheet while it is open, and in the same transaction the version's. */
const store = (db: Database, jobId: JobId, { style, earlier, drawn }: Drawn): Promise<number> =>
  inTransaction(db, async (tx) => {
    // Whoever deletes the article locks it before its jobs.
    const version = await tx
      .selectFrom('articles')
      .innerJoin('jobs', 'jobs.article_id', 'articles.id')
      .select(['articles.id', 'articles.workspace_id'])
      .where('jobs.id', '=', jobId)
      .forKeyShare('articles')
      .executeTakeFirst();
    if (version === undefined) return 0;
    const sheet = earlier === null ? await agreeWithMemory(tx, jobId, drawn) : addTerms(earlier, drawn.terms);
    const stored = isEmpty(sheet) ? null : sheet;
    const { rows } = await sql`
      WITH job AS (${lockOpenJob(jobId)})
      UPDATE translations SET sheet = ${JSON.stringify(stored)}::jsonb
      FROM job WHERE translations.job_id = job.id AND sheet IS NULL
      RETURNING job_id`.execute(tx);
    if (rows.length === 0 || stored === null) return 0;
    if (earlier === null) await changeVoice(tx, jobId, voiceKey({ style, sheet: stored }));
    await growSheet(tx, version, stored, drawn.terms);
    return stored.terms.length;
  });

const isEmpty = (sheet: StyleSheet): boolean =>
  sheet.terms.length === 0 && DECISIONS.every((decision) => sheet[decision] === null);

/** Texts that came from the memory go by no sheet: with any of them the others keep to their voice. */
async function agreeWithMemory(tx: Tx, jobId: JobId, sheet: StyleSheet): Promise<StyleSheet> {
  const remembered = await tx
    .selectFrom('translation_segments')
    .select('key')
    .where('job_id', '=', jobId)
    .where('from_memory', '=', 'machine')
    .limit(1)
    .executeTakeFirst();
  return remembered === undefined ? sheet : { ...sheet, address: null, variant: null, quotes: null };
}

/** What is to be translated is remembered under the voice that was drawn (contract.md V49). */
const changeVoice = (tx: Tx, jobId: JobId, voice: string) =>
  tx
    .updateTable('translation_segments')
    .set({ made_by: sql<string>`split_part(made_by, '.', 1) || '.' || ${voice}::text` })
    .where('job_id', '=', jobId)
    .where('from_memory', 'is', null)
    .execute();

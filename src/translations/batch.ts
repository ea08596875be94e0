import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { boundInVersion } from '../document/translation/planned.ts';
import { isField } from '../document/translation/segments.ts';
import { plainText } from '../document/translation/tags.ts';
import type { JobId } from '../ids.ts';
import { type TranslatedSegment, translateSegments } from '../providers/translate.ts';
import type { TranslatedFields, TranslationProvider } from '../providers/types.ts';
import { markRequested, requestEngine } from './engine-requests.ts';
import { mayLeave } from './report/judge.ts';

/** Progress while translating ends here; the rest belongs to finalizing. */
const TRANSLATED_PROGRESS = 95;
/** Characters of the keywords that requests for the body have, as JSON. */
const MAX_KEYWORDS_LENGTH = 1_000;

/**
 * Translates the rest of a batch and stores each usable text at once, so that neither a crash nor a failure of the rest
 * requests it again.
 * @returns requested segments; 0 when all were stored before a crash, or the job has ended
 * @throws {ProviderError} when the provider could not, or would not, translate a segment
 */
export async function translateBatch(
  { db, provider }: { db: Database; provider: TranslationProvider },
  input: { jobId: JobId; batch: number; signal: AbortSignal },
): Promise<number> {
  const { jobId, batch, signal } = input;
  const segments = await db
    .selectFrom('translation_segments')
    .select(['key', 'kind', 'source_text', 'in_version'])
    .where('job_id', '=', jobId)
    .where('batch', '=', batch)
    .where('target_text', 'is', null)
    .where('outcome', 'is', null)
    .where('same_as', 'is', null)
    .orderBy('position')
    .execute();
  if (segments.length > 0) {
    const marked = await markRequested(db, jobId, batch);
    if (marked === undefined) return 0;
    const translated = segments.every(({ kind }) => isField(kind)) ? null : await readFields(db, jobId);
    const inVersion = boundInVersion(
      segments.map(({ key, source_text, in_version }) => ({ key, text: source_text, inVersion: in_version })),
    );
    await requestEngine(db, marked.workspaceId, { jobId, batch }, () =>
      translateSegments(provider, {
        ...marked.prompt,
        ...(translated === null ? {} : { translated }),
        segments: segments.map(({ key, kind, source_text }) => {
          const placeholders = marked.placeholders[key];
          const there = inVersion.get(key);
          return {
            id: key,
            kind,
            text: source_text,
            ...(placeholders && { placeholders }),
            ...(there && { inVersion: there }),
          };
        }),
        signal,
        keep: (made) => storeTranslations(db, { jobId, batch }, made),
        mayLeave: (segment, declined) => mayLeave(db, jobId, segment, declined),
      }),
    );
  }
  await db
    .updateTable('jobs')
    .set({
      progress: sql`GREATEST(progress, (
        SELECT floor(${TRANSLATED_PROGRESS} * count(coalesce(target_text, outcome)) / count(*))::integer
        FROM translation_segments WHERE job_id = ${jobId}))`,
    })
    .where('id', '=', jobId)
    .where('status', '=', 'TRANSLATING')
    .execute();
  return segments.length;
}

/**
 * The title and keywords that were translated before the body: the same for each of its batches (contract.md V16). Null
 * without any.
 */
async function readFields(db: Database, jobId: JobId): Promise<TranslatedFields | null> {
  const rows = await db
    .selectFrom('translation_segments')
    .select(['kind', 'source_text', 'target_text'])
    .where('job_id', '=', jobId)
    .where('kind', 'in', ['title', 'keyword'])
    .where('same_as', 'is', null)
    .where('target_text', 'is not', null)
    .orderBy('position')
    .execute();
  if (rows.length === 0) return null;
  const texts = rows.map(({ kind, source_text, target_text }) => ({
    kind,
    pair: { source: plainText(source_text), target: plainText(target_text ?? '') },
  }));
  const title = texts.find(({ kind }) => kind === 'title')?.pair.target;
  let length = 0;
  const keywords = texts.flatMap(({ kind, pair }) => {
    if (kind !== 'keyword') return [];
    length += JSON.stringify(pair).length + 1;
    return length > MAX_KEYWORDS_LENGTH ? [] : pair;
  });
  return { ...(title === undefined ? {} : { title }), keywords };
}

/** Postgres refuses JSON with lone surrogates, and a defect's message may quote one. */
const wellFormed = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value;

/** Stores translations, each also for the equal texts that were not requested. */
async function storeTranslations(
  db: Database,
  { jobId, batch }: { jobId: JobId; batch: number },
  made: ReadonlyMap<string, TranslatedSegment>,
): Promise<void> {
  const results = [...made.values()];
  await sql`
    UPDATE translation_segments
    SET target_text = done.text, outcome = done.outcome, defects = done.defects::jsonb
    FROM unnest(
      ${[...made.keys()]}::text[],
      ${results.map(({ text }) => text)}::text[],
      ${results.map(({ outcome }) => outcome)}::text[],
      ${results.map(({ defects }) => (defects.length === 0 ? null : JSON.stringify(defects, wellFormed)))}::text[]
    ) AS done (id, text, outcome, defects)
    WHERE job_id = ${jobId} AND batch = ${batch} AND coalesce(same_as, key) = done.id
  `.execute(db);
}

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import { translateSegments } from '../providers/translate.ts';
import type { TranslationProvider } from '../providers/types.ts';

/** Progress while translating ends here; the rest belongs to finalizing. */
const TRANSLATED_PROGRESS = 95;
/** Keys are made of positions, so their numbers give the order in which a model should read the texts. */
const READING_ORDER = new Intl.Collator('en', { numeric: true });

/**
 * Translates what is left of one batch and stores every usable text as soon as it is there, so that neither a
 * crash nor a failure of the rest asks for it again.
 * @returns the number of segments asked for; 0 when a crash came after they were stored
 * @throws {ProviderError} when the provider could not, or would not, translate a segment
 */
export async function translateBatch(
  { db, provider }: { db: Database; provider: TranslationProvider },
  input: { jobId: JobId; batch: number; signal: AbortSignal },
): Promise<number> {
  const { jobId, batch, signal } = input;
  const translation = await db
    .selectFrom('translations')
    .select(['source_language', 'target_language'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const segments = await db
    .selectFrom('translation_segments')
    .select(['key', 'source_text'])
    .where('job_id', '=', jobId)
    .where('batch', '=', batch)
    .where('target_text', 'is', null)
    .execute();
  segments.sort((one, other) => READING_ORDER.compare(one.key, other.key));
  if (segments.length > 0) {
    await translateSegments(provider, {
      sourceLanguage: translation.source_language,
      targetLanguage: translation.target_language,
      segments: segments.map((segment) => ({ id: segment.key, text: segment.source_text })),
      signal,
      keep: (usable) => storeTranslations(db, jobId, usable),
    });
  }
  await db
    .updateTable('jobs')
    .set({
      progress: sql`GREATEST(progress, (
        SELECT floor(${TRANSLATED_PROGRESS} * count(target_text) / count(*))::integer
        FROM translation_segments WHERE job_id = ${jobId}))`,
    })
    .where('id', '=', jobId)
    .where('status', '=', 'TRANSLATING')
    .execute();
  return segments.length;
}

async function storeTranslations(
  db: Database,
  jobId: JobId,
  usable: ReadonlyMap<string, string>,
): Promise<void> {
  await sql`
    UPDATE translation_segments SET target_text = done.text
    FROM unnest(${[...usable.keys()]}::text[], ${[...usable.values()]}::text[]) AS done (key, text)
    WHERE job_id = ${jobId} AND translation_segments.key = done.key
  `.execute(db);
}

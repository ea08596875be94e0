import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import { translateSegments } from '../providers/translate.ts';
import type { TranslationProvider } from '../providers/types.ts';

/** Progress while translating ends here; the rest belongs to finalizing. */
const TRANSLATED_PROGRESS = 95;

/**
 * Translates what is left of one batch and stores it.
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
    .orderBy('key')
    .execute();
  if (segments.length > 0) {
    const translated = await translateSegments(provider, {
      sourceLanguage: translation.source_language,
      targetLanguage: translation.target_language,
      segments: segments.map((segment) => ({ id: segment.key, text: segment.source_text })),
      signal,
    });
    await sql`
      UPDATE translation_segments SET target_text = done.text
      FROM unnest(${[...translated.keys()]}::text[], ${[...translated.values()]}::text[]) AS done (key, text)
      WHERE job_id = ${jobId} AND translation_segments.key = done.key
    `.execute(db);
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

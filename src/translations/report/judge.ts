/** Decides whether a job may leave texts untranslated. */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { JobPurpose } from '../../db/tables.ts';
import type { JobId } from '../../ids.ts';
import { ProviderError, type TranslationText } from '../../providers/types.ts';

/** Share of an article's words that may be left untranslated. */
const MAX_LEFT = 0.03;
/** Untranslated texts of a job without a translated one, or of a refresh, beyond which the engine counts as broken. */
const MAX_BAD = 20;
/**
 * Share of words, and number of words, in another language or declined, from which a job counts as untranslated. Less may
 * be quotations and names.
 */
const UNTRANSLATED = { share: 2 / 3, words: 8 } as const;

/** True for a segment that was accepted in another language than the target. */
export const isUntranslated = sql<boolean>`coalesce(
  outcome = 'accepted' AND defects @> '[{"untranslated":true}]', false)`;

/** True for a segment that the engine declined, which leaves it untranslated. */
export const isDeclined = sql<boolean>`coalesce(
  outcome = 'left' AND defects @> '[{"code":"refused"}]', false)`;

/** Counts of a job's texts so far. */
interface Standing {
  readonly purpose: JobPurpose;
  readonly provider: string | null;
  readonly words: number;
  readonly texts: number;
  readonly done: number;
  readonly left: number;
  /** Words of texts that are left, without declined ones. */
  readonly leftWords: number;
  /** The title and headings among these texts. */
  readonly leftHeadings: number;
  /** Accepted in another language, or declined. */
  readonly untranslated: number;
  readonly untranslatedWords: number;
  readonly declinedWords: number;
  /** Accepted in the source's language. */
  readonly echoedWords: number;
}

async function standingOf(db: Database, jobId: JobId): Promise<Standing> {
  const { rows } = await sql<Standing>`
    SELECT jobs.purpose, translations.provider, segments.* FROM jobs
    JOIN translations ON translations.job_id = jobs.id
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS texts, count(target_text)::integer AS done,
        coalesce(sum(words), 0)::integer AS words,
        (count(*) FILTER (WHERE outcome = 'left'))::integer AS "left",
        coalesce(sum(words) FILTER (WHERE outcome = 'left' AND NOT ${isDeclined}), 0)::integer AS "leftWords",
        (count(*) FILTER (WHERE outcome = 'left' AND NOT ${isDeclined} AND kind IN ('title', 'heading')))::integer
          AS "leftHeadings",
        (count(*) FILTER (WHERE ${isUntranslated} OR ${isDeclined}))::integer AS untranslated,
        coalesce(sum(words) FILTER (WHERE ${isUntranslated} OR ${isDeclined}), 0)::integer AS "untranslatedWords",
        coalesce(sum(words) FILTER (WHERE ${isDeclined}), 0)::integer AS "declinedWords",
        coalesce(sum(words) FILTER (WHERE ${isUntranslated} AND defects @> '[{"code":"echo"}]'), 0)::integer
          AS "echoedWords"
      FROM translation_segments WHERE job_id = jobs.id
    ) AS segments
    WHERE jobs.id = ${jobId}
  `.execute(db);
  const [standing] = rows;
  if (standing === undefined) throw new Error(`job ${jobId} is no translation`);
  return standing;
}

/** Whether a job may leave one more text. A refresh keeps what was there before. */
export async function mayLeave(
  db: Database,
  jobId: JobId,
  { id, kind }: TranslationText,
  declined: boolean,
): Promise<boolean> {
  const standing = await standingOf(db, jobId);
  const works = standing.done > 0 || standing.left < MAX_BAD;
  if (!declined && standing.purpose === 'refresh') return works;
  if (!declined && (kind === 'title' || kind === 'heading')) return false;
  // Counts the equal texts that share its request.
  const more = await db
    .selectFrom('translation_segments')
    .select(sql<number>`count(*)::integer`.as('texts'))
    .select(sql<number>`coalesce(sum(words), 0)::integer`.as('words'))
    .where('job_id', '=', jobId)
    .where((eb) => eb.fn.coalesce('same_as', 'key'), '=', id)
    .executeTakeFirstOrThrow();
  if (!declined) return standing.leftWords + more.words <= standing.words * MAX_LEFT;
  const untranslated = standing.untranslated + more.texts;
  const untranslatedWords = standing.untranslatedWords + more.words;
  return works && !isMostlyUntranslated({ ...standing, untranslated, untranslatedWords });
}

/** A refresh may consist of a few quotations alone, so it may leave up to MAX_BAD texts. */
const isMostlyUntranslated = ({ purpose, words, untranslated, untranslatedWords }: Standing): boolean =>
  untranslatedWords >= UNTRANSLATED.words &&
  (purpose !== 'refresh' || untranslated > MAX_BAD) &&
  untranslatedWords >= words * UNTRANSLATED.share;

const AGAIN =
  'Nothing was charged. Start it again; if it fails again, reword or shorten what the report of this job names.';

/**
 * Refuses an unusable result.
 * @throws {ProviderError} with a message for customers that says what to do
 */
export async function requireUsable(db: Database, jobId: JobId): Promise<void> {
  const standing = await standingOf(db, jobId);
  const engine = standing.provider ?? 'the engine';
  const { purpose, texts, left } = standing;
  const isUnusable =
    (left > 0 && left === texts) ||
    (purpose !== 'refresh' && (standing.leftHeadings > 0 || standing.leftWords > standing.words * MAX_LEFT));
  if (isUnusable) {
    throw new ProviderError(
      'unusable',
      `${engine} gave no usable translation of ${left} of ${texts} texts. ${AGAIN}`,
    );
  }
  if (!isMostlyUntranslated(standing)) return;
  const { untranslatedWords, declinedWords, echoedWords } = standing;
  if (declinedWords * 2 > untranslatedWords) {
    throw new ProviderError('refused', `${engine} declines to translate ${left} of ${texts} texts. ${AGAIN}`);
  }
  const where =
    echoedWords * 2 > untranslatedWords - declinedWords
      ? 'the language of the source'
      : 'another language than the requested one';
  throw new ProviderError(
    'unusable',
    `The text came back in ${where}. Nothing was charged. Check that the article's language is right, and that ${engine} knows both languages; then start it again.`,
  );
}

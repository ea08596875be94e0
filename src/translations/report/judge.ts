/** Whether a job's article can do without the texts that nothing usable came for. */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { JobPurpose } from '../../db/tables.ts';
import type { JobId } from '../../ids.ts';
import { ProviderError, type TranslationText } from '../../providers/types.ts';

/** Share of an article's words that may be left. */
const MAX_LEFT = 0.03;
/** Texts that are left before any other is done, or that a refresh has untranslated, at most: its engine does not work. */
const MAX_BAD = 20;
/**
 * Share of the words, and words, from which on a job's texts were not translated, those that were declined among them.
 * Less may be quotations and names.
 */
const UNTRANSLATED = { share: 2 / 3, words: 8 } as const;

/** Of a segment: whether it was taken in another language than the wanted one. */
export const isUntranslated = sql<boolean>`coalesce(
  outcome = 'accepted' AND defects @> '[{"untranslated":true}]', false)`;

/** Of a segment: whether the engine declined it, which leaves it untranslated. */
export const isDeclined = sql<boolean>`coalesce(
  outcome = 'left' AND defects @> '[{"code":"refused"}]', false)`;

/** What became of a job's texts so far. */
interface Standing {
  readonly purpose: JobPurpose;
  readonly provider: string | null;
  readonly words: number;
  readonly texts: number;
  readonly done: number;
  readonly left: number;
  /** Of those that are left, but were not declined. */
  readonly leftWords: number;
  /** Of these, the title and headings. */
  readonly leftHeadings: number;
  /** Taken in another language, or declined. */
  readonly untranslated: number;
  readonly untranslatedWords: number;
  readonly declinedWords: number;
  /** Taken in the source's language. */
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

/** Whether a job can still do without one more text. A refresh leaves what was there before. */
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
  // With the equal texts that it is asked for in the place of.
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

/** A refresh of a few quotations makes nothing else, and could never end. */
const isMostlyUntranslated = ({ purpose, words, untranslated, untranslatedWords }: Standing): boolean =>
  untranslatedWords >= UNTRANSLATED.words &&
  (purpose !== 'refresh' || untranslated > MAX_BAD) &&
  untranslatedWords >= words * UNTRANSLATED.share;

const AGAIN =
  'Nothing was charged. Start it again; if it fails again, reword or shorten what the report of this job names.';

/**
 * Refuses the result of a job that nobody would accept.
 * @throws {ProviderError} with what to do, for whoever asked for it
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
      'fatal',
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
    'fatal',
    `The text came back in ${where}. Nothing was charged. Check that the article's language is right, and that ${engine} knows both languages; then start it again.`,
  );
}

import { hash } from 'node:crypto';
import { CHARACTERS_PER_WORD, textWeight } from '../document/format/words.ts';
import type { Counted } from '../document/tasks/tasks.ts';
import { metaFields } from '../document/translation/segments.ts';
import { invalid } from '../errors.ts';
import { doTask } from '../threads/pool.ts';
import type { SourceTexts } from './read-source.ts';
import type { Estimate } from './schemas.ts';

/** Words per credit, rounded up. */
const WORDS_PER_CREDIT = 1000;
/** Free words outside the body: `FREE_WORDS`, and one per `BODY_WORDS_PER_FREE_WORD` words of the body. */
const FREE_WORDS = 200;
const BODY_WORDS_PER_FREE_WORD = 5;

/** Priced words of a weight (`textWeight`). */
export const toWords = (weight: number): number => Math.floor(weight / CHARACTERS_PER_WORD);

/** Free words outside a body of this many words. */
export const freeWords = (bodyWords: number): number =>
  FREE_WORDS + Math.floor(bodyWords / BODY_WORDS_PER_FREE_WORD);

/**
 * Price of translating an article. Title, meta texts, keywords, alternative texts and link titles count only beyond the
 * free words. A text with few words but many characters is priced by characters. An article without words is free.
 * @throws {ServiceError} INVALID_REQUEST for a stored body that breaks a newer rule of the format
 */
export async function estimateSource(source: SourceTexts): Promise<Estimate> {
  return estimateCounted(source, await countBody(source.document.text));
}

/** The same for a counted body: for transactions, which must not wait for a thread. */
export function estimateCounted(source: SourceTexts, counted: Counted): Estimate {
  if (!counted.ok) {
    const { pointer, message } = counted.issue;
    throw invalid('', `The article's documentJson breaks a rule of its format at "${pointer}": ${message}.`);
  }
  const beside = metaFields(source).reduce((sum, { text }) => sum + textWeight(text), counted.beside);
  const free = CHARACTERS_PER_WORD * freeWords(toWords(counted.body));
  const words = toWords(counted.body + Math.max(0, beside - free));
  return { words, total: translationPrice(words) };
}

/** Credits for a first translation of so many priced words. */
export const translationPrice = (words: number): number => Math.ceil(Math.max(0, words) / WORDS_PER_CREDIT);

/**
 * Credits for a refresh: at least one when it sends any text.
 * @param sent number of texts
 * @param max credits of a whole translation
 */
export const refreshPrice = (sent: number, weight: number, max: number): number =>
  sent === 0 ? 0 : Math.min(Math.max(1, Math.ceil(toWords(weight) / WORDS_PER_CREDIT)), max);

/** Cached counts by hash, oldest first: editors request the same estimate repeatedly. */
const counted = new Map<string, Counted>();
const MAX_COUNTED = 1_000;

/** Counts a body, on a thread when it is large. */
export async function countBody(json: string): Promise<Counted> {
  const key = hash('sha256', json);
  const known = counted.get(key);
  if (known !== undefined) return known;
  const result = await doTask('count', json);
  if (counted.size >= MAX_COUNTED) for (const oldest of counted.keys()) if (counted.delete(oldest)) break;
  counted.set(key, result);
  return result;
}

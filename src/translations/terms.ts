/** The term list of one job: how its recurring terms are translated, so that all of its batches agree. */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { plainText } from '../document/translation/tags.ts';
import type { JobId } from '../ids.ts';
import type { GlossaryTerm, TermPair, TranslationProvider } from '../providers/types.ts';
import { askMarked, markRequested, TERM_LIST } from './engine-requests.ts';
import type { Plan } from './plan.ts';

/** Below so many words that are left to translate no list is drawn. */
const LEAST_WORDS = 300;
/** Pairs of a list: one for so many words, and so many at most. */
const WORDS_PER_PAIR = 20;
const MAX_PAIRS = 100;
const MAX_CHARACTERS = 60;
/** Of all texts that are left, the part that the pairs may be as long as: they go along with each request. */
const MAX_SHARE = 1 / 5;
/** What a list is drawn from: a third of the texts, so that it costs a part of what the job does, and some 10,000 words at most. */
const READ = { share: 1 / 3, characters: 60_000 } as const;

/** True when a list is worth a call: of texts that one request has, it could tell nothing. */
export const wantsTerms = (provider: TranslationProvider, { batches, words }: Plan): boolean =>
  provider.terms !== undefined && batches > 1 && words > LEAST_WORDS;

/**
 * Draws the term list of a job and stores it, once: a list that is there stays, and so does none once a batch was asked for.
 * @returns pairs of the list
 * @throws {ProviderError} when the engine could not, or would not, draw one
 */
export async function drawTerms(
  { db, provider }: { db: Database; provider: TranslationProvider },
  { jobId, signal }: { jobId: JobId; signal: AbortSignal },
): Promise<number> {
  const marked = await markRequested(db, jobId, TERM_LIST);
  if (marked === undefined || marked.drawn !== null) return marked?.drawn ?? 0;
  const { context, around: _, ...languages } = marked.request;
  if (context === undefined || provider.terms === undefined) return 0;
  const { texts, words, characters } = await readTexts(db, jobId);
  const limit = Math.min(Math.ceil(words / WORDS_PER_PAIR), MAX_PAIRS);
  const request = { ...languages, context, texts, limit, signal };
  const drawn = await askMarked(db, jobId, TERM_LIST, async () => provider.terms?.(request) ?? []);
  const room = characters * MAX_SHARE;
  const pairs = usablePairs(drawn, { texts, glossary: context.glossary, limit, room });
  const { rows } = await sql<{ pairs: number }>`
    UPDATE translations SET terms = coalesce(terms, ${JSON.stringify(pairs)}::jsonb) WHERE job_id = ${jobId}
    RETURNING jsonb_array_length(terms) AS pairs
  `.execute(db);
  return rows[0]?.pairs ?? 0;
}

/** Texts that are left to translate, plain and each once, taken evenly from all of them; and how long they all are. */
async function readTexts(
  db: Database,
  jobId: JobId,
): Promise<{ texts: string[]; words: number; characters: number }> {
  const rows = await db
    .selectFrom('translation_segments')
    .select(['source_text', 'words'])
    .where('job_id', '=', jobId)
    .where('target_text', 'is', null)
    .where('same_as', 'is', null)
    .orderBy('position')
    .execute();
  const all = rows.map(({ source_text }) => plainText(source_text));
  const characters = all.reduce((sum, text) => sum + text.length, 0);
  const share = Math.min(READ.share, READ.characters / characters);
  let passed = 0;
  let read = 0;
  const texts = all.filter((text) => {
    passed += text.length;
    if (read > 0 && read + text.length > share * passed) return false;
    read += text.length;
    return true;
  });
  return { texts, words: rows.reduce((sum, row) => sum + row.words, 0), characters };
}

/**
 * Those of a model's pairs that may go into its own prompts again: of terms that the texts have and the glossary has not,
 * each once, without tags, line breaks or quotes.
 */
export function usablePairs(
  drawn: readonly TermPair[],
  {
    texts,
    glossary,
    limit,
    room,
  }: {
    readonly texts: readonly string[];
    readonly glossary: readonly GlossaryTerm[];
    readonly limit: number;
    /** Characters of all pairs as JSON. */
    readonly room: number;
  },
): TermPair[] {
  const text = fold(texts.join('\n'));
  const taken = new Set(glossary.map(({ source }) => fold(source)));
  const pairs: TermPair[] = [];
  let length = 0;
  for (const given of drawn.slice(0, 10 * MAX_PAIRS)) {
    const pair = { source: given.source.trim(), target: given.target.trim() };
    const source = fold(pair.source);
    if (pairs.length === limit || taken.has(source)) continue;
    if (!isTerm(pair.source) || !isTerm(pair.target) || !text.includes(source)) continue;
    length += JSON.stringify(pair).length + 1;
    if (length > room) break;
    taken.add(source);
    pairs.push(pair);
  }
  return pairs;
}

const fold = (text: string): string => text.normalize('NFC').toLowerCase();

/** Words without anything that could be markup, a line or the end of a quotation. An apostrophe within a word is none. */
const isTerm = (text: string): boolean =>
  text.length <= MAX_CHARACTERS &&
  /\p{L}/u.test(text) &&
  !/[<>\p{C}\p{Zl}\p{Zp}"`“”„‟«»‹›「」『』〝〞]|(?<!\p{L})['’‘‚‛]|['’‘‚‛](?!\p{L})/u.test(text);

/** The term list of one job: translations of its recurring terms, so that all batches agree. */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { plainText } from '../document/translation/tags.ts';
import type { JobId } from '../ids.ts';
import type { GlossaryTerm, TermPair, TranslationProvider } from '../providers/types.ts';
import { markRequested, requestEngine, TERM_LIST } from './engine-requests.ts';
import type { Plan } from './plan.ts';

/** Jobs with fewer untranslated words get no list. */
const MIN_WORDS = 300;
/** Pairs of a list: one per `WORDS_PER_PAIR` words, up to `MAX_PAIRS`. */
const WORDS_PER_PAIR = 20;
const MAX_PAIRS = 100;
const MAX_CHARACTERS = 60;
/** Length of all pairs as a share of the untranslated texts: the list goes with each request. */
const MAX_SHARE = 1 / 5;
/** Sample that terms are extracted from: a third of the texts, up to about 10,000 words. */
const READ = { share: 1 / 3, characters: 60_000 } as const;

/** True when a list is worth a call: with a single batch there is nothing to agree on. */
export const wantsTerms = (provider: TranslationProvider, { batches, words }: Plan): boolean =>
  provider.terms !== undefined && batches > 1 && words > MIN_WORDS;

/**
 * Extracts the term list of a job and stores it. Does nothing when a list is stored or a batch was requested.
 * @returns number of pairs in the list
 * @throws {ProviderError} when the engine failed or declined
 */
export async function extractTerms(
  { db, provider }: { db: Database; provider: TranslationProvider },
  { jobId, signal }: { jobId: JobId; signal: AbortSignal },
): Promise<number> {
  const marked = await markRequested(db, jobId, TERM_LIST);
  if (marked === undefined || marked.pairs !== null) return marked?.pairs ?? 0;
  const { context, around: _, ...languages } = marked.prompt;
  if (context === undefined || provider.terms === undefined) return 0;
  const { texts, words, characters } = await readTexts(db, jobId);
  const limit = Math.min(Math.ceil(words / WORDS_PER_PAIR), MAX_PAIRS);
  const request = { ...languages, context, texts, limit, signal };
  const extracted = await requestEngine(db, jobId, TERM_LIST, async () => provider.terms?.(request) ?? []);
  const room = characters * MAX_SHARE;
  const pairs = usablePairs(extracted, { texts, glossary: context.glossary, limit, room });
  const { rows } = await sql<{ pairs: number }>`
    UPDATE translations SET terms = coalesce(terms, ${JSON.stringify(pairs)}::jsonb) WHERE job_id = ${jobId}
    RETURNING jsonb_array_length(terms) AS pairs
  `.execute(db);
  return rows[0]?.pairs ?? 0;
}

/** An even sample of the untranslated texts, plain and each once; and the length of all of them. */
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
 * A model's pairs that may go into later prompts: each once, for terms that occur in the texts but not in the glossary,
 * without tags, line breaks or quotes.
 */
export function usablePairs(
  extracted: readonly TermPair[],
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
  for (const given of extracted.slice(0, 10 * MAX_PAIRS)) {
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

/** True for words without markup, line breaks and quotes. An apostrophe within a word is allowed. */
const isTerm = (text: string): boolean =>
  text.length <= MAX_CHARACTERS &&
  /\p{L}/u.test(text) &&
  !/[<>\p{C}\p{Zl}\p{Zp}"`“”„‟«»‹›「」『』〝〞]|(?<!\p{L})['’‘‚‛]|['’‘‚‛](?!\p{L})/u.test(text);

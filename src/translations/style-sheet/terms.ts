/** The terms of a style sheet: the texts that they are drawn from, and which of a model's pairs are used. */
import type { Database } from '../../db/database.ts';
import { foldTerm, isTerm, MAX_TERMS, type TermPair } from '../../document/translation/style-sheet.ts';
import { plainText } from '../../document/translation/tags.ts';
import type { JobId } from '../../ids.ts';

/** Bounds of the sample: a quarter of the texts, up to about 10,000 words. */
const READ = { share: 1 / 4, characters: 60_000 } as const;

/** An even sample of the untranslated texts, plain and each once; and the length of all of them. */
export async function readSample(
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
 * A model's pairs that may go into later prompts (contract.md V17): each once, for terms that occur in the texts and are
 * not taken, without tags, line breaks or quotes.
 */
export function usablePairs(
  drawn: readonly TermPair[],
  {
    texts,
    taken: sources,
    limit,
    room,
  }: {
    readonly texts: readonly string[];
    /** Sources of the glossary and of the earlier sheet. */
    readonly taken: readonly string[];
    readonly limit: number;
    /** Characters of all pairs as JSON. */
    readonly room: number;
  },
): TermPair[] {
  const text = foldTerm(texts.join('\n'));
  const taken = new Set(sources.map(foldTerm));
  const pairs: TermPair[] = [];
  let length = 0;
  for (const given of drawn.slice(0, 10 * MAX_TERMS)) {
    const pair = { source: given.source.trim(), target: given.target.trim() };
    const source = foldTerm(pair.source);
    if (pairs.length === limit || taken.has(source)) continue;
    if (!isTerm(pair.source) || !isTerm(pair.target) || !text.includes(source)) continue;
    length += JSON.stringify(pair).length + 1;
    if (length > room) break;
    taken.add(source);
    pairs.push(pair);
  }
  return pairs;
}

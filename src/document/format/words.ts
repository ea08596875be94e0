/** Counts words. The price of a translation depends on the count (design.md §9), so all callers share it. */

import { parseInline, toPlainText } from '../inline/parse.ts';
import type { InlineRun } from '../inline/runs.ts';
import type { DocumentJson } from './schema.ts';
import { collectTexts } from './walk.ts';

// A fixed locale: the price must not depend on the machine's.
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });

/** A text like those of most cells of a table: one word by Unicode's rules, which take long to apply. */
const ONE_WORD = /^[A-Za-z0-9]+$/;

/** Words in a plain text, in any language, by Unicode word boundaries and dictionaries. */
export function countTextWords(text: string): number {
  if (ONE_WORD.test(text)) return 1;
  let count = 0;
  for (const segment of SEGMENTER.segment(text)) if (segment.isWordLike) count += 1;
  return count;
}

/** The words of a text and the offsets at which they end. */
export const wordsIn = (text: string): { word: string; end: number }[] =>
  [...SEGMENTER.segment(text)].flatMap(({ index, segment, isWordLike }) =>
    isWordLike ? [{ word: segment, end: index + segment.length }] : [],
  );

/** Characters (without spaces) that cost as much as one word, for text with few word breaks. */
export const CHARACTERS_PER_WORD = 40;

/**
 * A text's weight in the price of a translation: `CHARACTERS_PER_WORD` per word, or its characters without spaces if
 * they are more. An integer, so that sums are exact.
 */
export const textWeight = (text: string): number =>
  Math.max(CHARACTERS_PER_WORD * countTextWords(text), text.replace(/\s+/g, '').length);

/**
 * Words of the document as shown: headings, paragraphs, quotes, attributions, list items, table cells and captions.
 * Code blocks and alt texts do not count, nor does Markdown syntax or a link's target; inline code does. Counted text
 * by text, because segmenting a joined document is slow on some engines.
 * @param measure returns the figure to add up for each text
 */
export function countWords(document: DocumentJson, measure = countTextWords): number {
  let count = 0;
  for (const field of collectTexts(document)) {
    if (field.kind === 'altText') continue;
    count += measure(field.markdown ? toPlainText(field.text) : field.text);
  }
  return count;
}

/**
 * Weight of translated texts that do not count as words of the body: alternative texts and titles of inline links.
 */
export function uncountedWeight(document: DocumentJson): number {
  let weight = 0;
  for (const field of collectTexts(document)) {
    if (field.kind === 'altText') {
      weight += textWeight(field.text);
    } else if (field.markdown && field.text.includes('](')) {
      for (const title of titlesIn(parseInline(field.text))) weight += textWeight(title);
    }
  }
  return weight;
}

/** The title of each link, once per link. */
function titlesIn(runs: readonly InlineRun[]): string[] {
  return [...new Set(runs.map(({ link }) => link))].flatMap((link) => link?.title ?? []);
}

/** Word counting: the count is the price of a translation (design.md §9), so it is one function used everywhere. */

import { ParsedTexts } from '../inline/texts.ts';
import type { DocumentJson } from './schema.ts';
import { collectTexts } from './walk.ts';

// A fixed locale: the price must not depend on the machine's.
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });

/** Words in a plain text, in any language, by Unicode word boundaries and dictionaries. */
export function countTextWords(text: string): number {
  let count = 0;
  for (const segment of SEGMENTER.segment(text)) if (segment.isWordLike) count += 1;
  return count;
}

/**
 * Words of the document as shown: headings, paragraphs, quotes, attributions, list items, table cells and captions.
 * Code blocks and alt texts do not count, nor does Markdown syntax or a link's target; inline code does. Counted text
 * by text, because segmenting a joined document is slow on some engines.
 */
export function countWords(document: DocumentJson, texts = new ParsedTexts()): number {
  let count = 0;
  for (const field of collectTexts(document)) {
    if (field.kind === 'altText') continue;
    count += countTextWords(field.markdown ? texts.plain(field.text) : field.text);
  }
  return count;
}

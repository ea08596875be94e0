/** Where an article uses its primary keyword, and how often. */
import type { Block } from '../../../document/format/schema.ts';
import { comparedStems, isCharacter, visibleTexts } from './words.ts';

/** The largest share of the words that may belong to the keyword. */
const MAX_DENSITY = 0.03;

export interface KeywordUse {
  /** True when it stands before the first heading. */
  readonly inLead: boolean;
  readonly inHeading: boolean;
  /** Share of the words that belong to it. */
  readonly density: number;
  /** True when that is above 3 %. */
  readonly tooDense: boolean;
}

/** The use of a keyword in the blocks of an article, lead first; null for a keyword without words. */
export function keywordUse(
  blocks: readonly Block[],
  { keyword, language }: { readonly keyword: string; readonly language: string },
): KeywordUse | null {
  const wanted = comparedStems(keyword, language);
  if (wanted.length === 0) return null;
  const firstHeading = blocks.findIndex(({ type }) => type === 'heading');
  const lead = blocks.slice(0, firstHeading === -1 ? blocks.length : firstHeading);
  const headings = blocks.filter(({ type }) => type === 'heading');
  const stemsOfTexts = (of: readonly Block[]) =>
    visibleTexts(of).map((text) => comparedStems(text, language));
  const texts = stemsOfTexts(blocks);
  const words = texts.reduce((sum, text) => sum + text.length, 0);
  const uses = texts.reduce((sum, text) => sum + occurrences(text, wanted), 0);
  const density = words === 0 ? 0 : (uses * wanted.length) / words;
  return {
    inLead: stemsOfTexts(lead).some((text) => has(text, wanted)),
    inHeading: stemsOfTexts(headings).some((text) => has(text, wanted)),
    density,
    tooDense: density > MAX_DENSITY,
  };
}

/** True for a text with all words of the keyword, as people bend and order them; characters have to follow one another. */
const has = (text: readonly string[], wanted: readonly string[]): boolean =>
  wanted.some(isCharacter) ? occurrences(text, wanted) > 0 : wanted.every((word) => text.includes(word));

/** How often the words follow one another in the text, without overlaps. */
function occurrences(text: readonly string[], wanted: readonly string[]): number {
  let count = 0;
  for (let at = 0; at + wanted.length <= text.length; ) {
    const isHere = wanted.every((word, index) => text[at + index] === word);
    count += isHere ? 1 : 0;
    at += isHere ? wanted.length : 1;
  }
  return count;
}

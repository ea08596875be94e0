/** Terms of a glossary that a translation does not have. */
import { indexTerms } from '../../text/term-index.ts';
import type { GlossaryTerm } from '../context.ts';
import { type Defect, quoted, soft } from './defects.ts';
import { folded } from './text.ts';

/** Writings without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Letters at the end of a longer word that an inflection may replace. */
const ENDING = 3;
/** Terms that one text is repaired for at once. */
const MOST = 10;

const indexes = new WeakMap<readonly GlossaryTerm[], (text: string) => GlossaryTerm[]>();

/** Finds the terms of a glossary in texts; all texts of a request have one. */
function finderOf(glossary: readonly GlossaryTerm[]): (text: string) => GlossaryTerm[] {
  const known = indexes.get(glossary);
  if (known !== undefined) return known;
  const finder = indexTerms(glossary);
  indexes.set(glossary, finder);
  return finder;
}

const wordsOf = (text: string): string[] => folded(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** The beginning of a word that its inflections share. */
function stemOf(word: string): string {
  const letters = [...word];
  return letters.slice(0, Math.max(Math.min(letters.length, 3), letters.length - ENDING)).join('');
}

/** Whether a term's translation stands in a text, inflected or not, its words in any order. */
function isThere(target: string, text: string): boolean {
  if (UNSPACED.test(target)) return folded(text).includes(folded(target));
  const words = wordsOf(text);
  // Within words, too: compounds, prefixed articles.
  return wordsOf(target).every((word) => words.some((other) => other.includes(stemOf(word))));
}

/** Looks for the translation of each term that occurs; both texts without markup. */
export function checkGlossary(
  source: string,
  translated: string,
  glossary: readonly GlossaryTerm[],
): Defect[] {
  if (glossary.length === 0) return [];
  const termsIn = finderOf(glossary);
  const kept = new Set(termsIn(translated));
  return termsIn(source)
    .flatMap((term) => {
      const { source: word, target } = term;
      if (target !== null) {
        return isThere(target, translated)
          ? []
          : soft('glossary', `${quoted(word)} must be translated as ${quoted(target)}`);
      }
      // Within a word, too: with the ending or the article of its language.
      return kept.has(term) || translated.includes(word)
        ? []
        : soft('glossary', `${quoted(word)} must stay as it is`);
    })
    .slice(0, MOST);
}

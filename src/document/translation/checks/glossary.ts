/** Glossary terms that are missing from a translation. */
import { indexTerms } from '../../text/term-index.ts';
import type { GlossaryTerm } from '../context.ts';
import { type Defect, quoted, soft } from './defects.ts';
import { folded } from './text.ts';

/** Scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Letters at the end of a longer word that an inflection may replace. */
const ENDING = 3;
/** The most missing terms reported for one text. */
const MAX_MISSING = 10;

const indexes = new WeakMap<readonly GlossaryTerm[], (text: string) => GlossaryTerm[]>();

/** Returns the finder of a glossary's terms, shared by all texts of a request. */
function finderOf(glossary: readonly GlossaryTerm[]): (text: string) => GlossaryTerm[] {
  const known = indexes.get(glossary);
  if (known !== undefined) return known;
  const finder = indexTerms(glossary);
  indexes.set(glossary, finder);
  return finder;
}

const wordsOf = (text: string): string[] => folded(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** The beginning of a word, shared by its inflections. */
function stemOf(word: string): string {
  const letters = [...word];
  return letters.slice(0, Math.max(Math.min(letters.length, 3), letters.length - ENDING)).join('');
}

/** Whether a term's translation occurs in a text, inflected or not, its words in any order. */
function isThere(target: string, text: string): boolean {
  if (UNSPACED.test(target)) return folded(text).includes(folded(target));
  const words = wordsOf(text);
  // Within words, too: compounds, prefixed articles.
  return wordsOf(target).every((word) => words.some((other) => other.includes(stemOf(word))));
}

/** Requires the translation of each term in the source; both texts without markup. */
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
    .slice(0, MAX_MISSING);
}

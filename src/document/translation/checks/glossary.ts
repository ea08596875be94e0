/** Glossary terms that are missing from a translation. */
import { folded } from '../../text/characters.ts';
import { stemsOf } from '../../text/stems.ts';
import { indexTerms } from '../../text/term-index.ts';
import type { GlossaryTerm } from '../context.ts';
import type { LanguagePair } from '../figures.ts';
import { type Defect, quoted, soft } from './defects.ts';
import { baseLanguage } from './text.ts';

/** Scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Letters at the end of a longer word that an inflection may replace, in languages without a stemmer. */
const ENDING = 3;
/** The fewest letters of a word, and of a stem, that are looked for within another word. */
const LEAST = { word: 3, stem: 4 } as const;
/** Languages that write compounds as one word, inflected within it. */
const COMPOUNDING = new Set('da de fi hu nb nl nn no sv'.split(' '));
/** The most missing terms reported for one text. */
const MAX_MISSING = 10;
/** Characters of a term. */
const MAX_TERM = 60;

type Finder = (text: string) => GlossaryTerm[];

const indexes = new WeakMap<readonly GlossaryTerm[], { readonly language: string; readonly find: Finder }>();

/** Returns the finder of a glossary's terms, shared by all texts of a request. */
function finderOf(glossary: readonly GlossaryTerm[], language: string): Finder {
  const known = indexes.get(glossary);
  if (known?.language === language) return known.find;
  const find = indexTerms(glossary, language);
  indexes.set(glossary, { language, find });
  return find;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** The beginning of a word, shared by its inflections. */
function beginningOf(word: string): string {
  const letters = [...word];
  return letters.slice(0, Math.max(Math.min(letters.length, 3), letters.length - ENDING)).join('');
}

/** Returns whether a word occurs among others: inflected, in a compound, or behind a prefixed article. */
function finderOfWords(text: string, language: string): (word: string) => boolean {
  const stems = stemsOf(language);
  const words = wordsOf(text);
  const others = words.map((word) => folded(word));
  if (stems === null) {
    return (word) => others.some((other) => other.includes(beginningOf(folded(word))));
  }
  const stemmed = words.map(stems.stem);
  const isCompounding = COMPOUNDING.has(baseLanguage(language));
  return (word) => {
    const [plain, stem] = [folded(word), stems.stem(word)];
    return (
      stemmed.includes(stem) ||
      (plain.length >= LEAST.word && others.some((other) => other.includes(plain))) ||
      (isCompounding && stem.length >= LEAST.stem && stemmed.some((other) => other.includes(stem)))
    );
  };
}

/** Whether a term's translation occurs in a text, inflected or not, its words in any order. */
function isThere(target: string, text: string, language: string): boolean {
  if (UNSPACED.test(target)) return folded(text).includes(folded(target));
  return wordsOf(target).every(finderOfWords(text, language));
}

/** Requires the translation of each term in the source; both texts without markup. */
export function checkGlossary(
  source: string,
  translated: string,
  glossary: readonly GlossaryTerm[],
  { sourceLanguage, targetLanguage }: LanguagePair,
): Defect[] {
  if (glossary.length === 0) return [];
  const termsIn = finderOf(glossary, sourceLanguage);
  const there = termsIn(source);
  const kept = there.some(({ target }) => target === null) ? new Set(termsIn(translated)) : new Set();
  return there
    .flatMap((term) => {
      const { source: word, target } = term;
      if (target !== null) {
        return isThere(target, translated, targetLanguage)
          ? []
          : soft('glossary', `${quoted(word, MAX_TERM)} must be translated as ${quoted(target, MAX_TERM)}`);
      }
      // Within a word, too: with the ending or the article of its language.
      return kept.has(term) || translated.includes(word)
        ? []
        : soft('glossary', `${quoted(word, MAX_TERM)} must stay as it is`);
    })
    .slice(0, MAX_MISSING);
}

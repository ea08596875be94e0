/** Terms of a glossary that a translation does not have. */
import { type Defect, quoted, soft } from './defects.ts';
import { folded } from './text.ts';

/** A term and its one translation. */
export interface Term {
  readonly source: string;
  /** Null for a term that stays as it is. */
  readonly target: string | null;
  readonly caseSensitive: boolean;
}

/** Writings without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Letters at the end of a longer word that an inflection may replace. */
const ENDING = 3;
/** Terms that one text is repaired for at once. */
const MOST = 10;

/** Whether a term stands in a text, as words of its own. */
function occurs({ source, caseSensitive }: Term, text: string): boolean {
  const [term, within] = caseSensitive ? [source, text] : [folded(source), folded(text)];
  if (UNSPACED.test(term)) return within.includes(term);
  for (let at = within.indexOf(term); at !== -1; at = within.indexOf(term, at + 1)) {
    const isWordPart = (character: string): boolean => /[\p{L}\p{M}\p{N}]/u.test(character);
    if (!isWordPart(within.charAt(at - 1)) && !isWordPart(within.charAt(at + term.length))) return true;
  }
  return false;
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
export function checkGlossary(source: string, translated: string, glossary: readonly Term[]): Defect[] {
  const defects: Defect[] = [];
  for (const term of glossary) {
    if (defects.length === MOST) break;
    if (!occurs(term, source)) continue;
    const { target } = term;
    if (target === null) {
      if (!translated.includes(term.source) && !(occurs(term, translated) && !term.caseSensitive)) {
        defects.push(soft('glossary', `${quoted(term.source)} must stay as it is`));
      }
    } else if (!isThere(target, translated)) {
      defects.push(soft('glossary', `${quoted(term.source)} must be translated as ${quoted(target)}`));
    }
  }
  return defects;
}

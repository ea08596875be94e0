/**
 * A language for tests that looks like Spanish: common words are Spanish, every other word has one made-up translation
 * of its length. Numbers, tags and punctuation stay as they are.
 */
import { draw } from './draw.ts';

const COMMON: Readonly<Record<string, string>> = {
  a: 'una',
  all: 'todos',
  an: 'un',
  and: 'y',
  are: 'son',
  as: 'como',
  at: 'en',
  be: 'ser',
  before: 'antes',
  but: 'pero',
  by: 'por',
  can: 'puede',
  every: 'cada',
  for: 'para',
  from: 'desde',
  has: 'tiene',
  have: 'han',
  in: 'en',
  is: 'es',
  it: 'lo',
  more: 'más',
  not: 'no',
  of: 'de',
  on: 'sobre',
  or: 'o',
  our: 'nuestro',
  that: 'que',
  the: 'la',
  their: 'sus',
  they: 'ellos',
  this: 'esta',
  to: 'para',
  was: 'fue',
  we: 'nosotros',
  when: 'cuando',
  which: 'cual',
  with: 'con',
  you: 'usted',
  your: 'su',
};
const VOWELS = 'aeiou';
const CONSONANTS = 'bcdfglmnprstv';
const WORD = /\p{L}[\p{L}\p{M}'’]*/gu;
/** Tags and character references of the protected form. */
const MARKUP = /<[^<>]*>|&(?:#\d+|#x[\da-f]+|[a-z]+);/gi;

/** The text with everything but tags and references put through `change`. */
export function mapProse(text: string, change: (prose: string) => string): string {
  let at = 0;
  let changed = '';
  for (const match of text.matchAll(MARKUP)) {
    changed += change(text.slice(at, match.index)) + match[0];
    at = match.index + match[0].length;
  }
  return changed + change(text.slice(at));
}

/**
 * Translates prose.
 * @param terms phrases that `render` may answer for, the longest first; null leaves a phrase to its words
 */
export function translateProse(
  prose: string,
  terms: readonly string[],
  render: (term: string) => string | null,
): string {
  if (terms.length === 0) return translateWords(prose);
  const longestFirst = terms.toSorted((one, other) => other.length - one.length).map(RegExp.escape);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${longestFirst.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  let at = 0;
  let translated = '';
  for (const match of prose.matchAll(pattern)) {
    const [term] = match;
    translated += translateWords(prose.slice(at, match.index)) + (render(term) ?? translateWords(term));
    at = match.index + term.length;
  }
  return translated + translateWords(prose.slice(at));
}

const translateWords = (prose: string): string =>
  prose.replace(WORD, (word) => {
    const lower = word.toLowerCase();
    return likeCase(word, COMMON[lower] ?? invented(lower));
  });

/** A made-up word as long as this one: vowels for vowels, consonants for consonants, a vowel at the end. */
function invented(word: string): string {
  const letters = [...word].map((letter, index) => {
    const choices = VOWELS.includes(letter) || index === word.length - 1 ? VOWELS : CONSONANTS;
    return choices[Math.floor(draw(word, index) * choices.length)] ?? letter;
  });
  return letters.join('');
}

/** With a capital where the model has one. */
export const likeCase = (model: string, word: string): string =>
  /^\p{Lu}/u.test(model) ? word.charAt(0).toUpperCase() + word.slice(1) : word;

/** The words of a text as rankings compare them. */
import { folded } from '../../document/text/characters.ts';
import { stemsOf } from '../../document/text/stems.ts';

/** A number, or a word; characters of scripts without spaces are taken out of words below. */
const TOKEN = /\p{Nd}{1,15}(?:[.,]\p{Nd}{1,15}){0,4}|[\p{L}\p{M}]{1,60}/gu;
const WITHOUT_SPACES = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;
const GROUPED = /^\d{1,3}(?:[.,]\d{3})+$/;
const NUMBER_WORDS = new Map(
  'one two three four five six seven eight nine ten eleven twelve'
    .split(' ')
    .map((word, at) => [word, String(at + 1)]),
);

/** Marks the terms that are numbers. */
const NUMBER = '#';
export const isNumber = (term: string): boolean => term.startsWith(NUMBER);

/** `1,000`, `1.000` and `1000` are one number, and so are `1.5` and `1,5`. */
function numberTerm(token: string): string {
  const digits = token.normalize('NFKC');
  return NUMBER + (GROUPED.test(digits) ? digits.replace(/[.,]/g, '') : digits.replaceAll(',', '.'));
}

/**
 * The terms of a text in their order: stems of words, numbers, and pairs of characters in scripts without spaces. Linear.
 * @param language its tag; without a stemmer words are compared as they are, without case and accents
 */
export function termsOf(text: string, language: string): string[] {
  const stems = stemsOf(language);
  const isEnglish = /^en\b/i.test(language);
  const terms: string[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    if (/^\p{Nd}/u.test(token)) terms.push(numberTerm(token));
    else if (WITHOUT_SPACES.test(token)) {
      const characters = [...token];
      for (let at = 0; at < Math.max(1, characters.length - 1); at += 1) {
        terms.push(characters.slice(at, at + 2).join(''));
      }
    } else {
      const number = isEnglish ? NUMBER_WORDS.get(token.toLowerCase()) : undefined;
      terms.push(number === undefined ? (stems?.stem(token) ?? folded(token)) : NUMBER + number);
    }
  }
  return terms;
}

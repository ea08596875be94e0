/** Numbers that were changed, lost or added. Digits of every script, separators of every locale. */
import { folded } from '../../text/characters.ts';
import {
  datesIn,
  type LanguagePair,
  NUMBER,
  type Signs,
  signsOf,
  toAsciiDigits,
  withoutDates,
} from '../figures.ts';
import { type Defect, quoted, soft } from './defects.ts';
import { hanValues, hasNumberWords, monthsIn, scalesOf, writtenNumbers } from './number-words.ts';
import { baseLanguage } from './text.ts';

/** A written number: its possible values, and its parts if it may be a date, version or list. */
interface Written {
  readonly text: string;
  /** The name before it, folded: of a version or a model. */
  readonly name: string | null;
  readonly values: readonly number[];
  readonly parts: readonly number[];
}

/** Numbers up to this one may be written as a word that is in no table. */
const SMALL = 12;
/** The same in languages without a table, which write these as words or letters. */
const DAYS = 31;
/** The most numbers compared per text; a text with more is a table of figures. */
const MAX_COMPARED = 200;
/** Han and Hangul multipliers; 千米 and 千克 are units. */
const MULTIPLIERS = '(?:[十百万萬億亿兆만억조천백]|千(?![米克瓦卡]))+';
/** A number, or several joined by multipliers: 1万2千. */
const CHAIN = new RegExp(`${NUMBER}(?:${MULTIPLIERS} ?(?:${NUMBER})?)*`, 'gu');
/** Added by times: 15:00 for 3 pm. */
const MIDNIGHT = 0;
const SPACES = /[\u00a0\u202f\u2009 ]/;

/** Every number written in digits; `plain` has ASCII digits. */
function numbersIn(plain: string, language: string): Written[] {
  const signs = signsOf(language);
  const found: Written[] = [];
  for (const match of plain.matchAll(CHAIN)) {
    if (found.length === MAX_COMPARED) break;
    const behind = plain.slice(match.index + match[0].length, match.index + match[0].length + 24);
    const name = nameBefore(plain.slice(Math.max(0, match.index - 24), match.index));
    found.push(
      ...(/\p{L}/u.test(match[0])
        ? [readChain(match[0])]
        : apart(match[0]).map((token) => ({ ...read(token, behind, signs), name }))),
    );
  }
  return found;
}

/** Splits adjacent numbers: a space belongs to a number only between groups of three digits. */
function apart(token: string): string[] {
  if (!SPACES.test(token)) return [token];
  return /^\d{1,3}(?:[\u00a0\u202f\u2009 ]\d{3})+(?:[.,٫]\d+)?$/.test(token) ? [token] : token.split(SPACES);
}

/** Reads digits with multipliers as one number, or as several. */
function readChain(text: string): Written {
  const parts = (text.match(/\d[\d.,]*/g) ?? []).map((token) => Number(token.replace(/\D/g, '')));
  return { text: text.trim(), name: null, values: hanValues(text.replaceAll(' ', '')), parts };
}

/** `Version`, `iOS` or `v` directly before a number. */
function nameBefore(text: string): string | null {
  const word = /[\p{L}\p{M}]+(?=\s?$)/u.exec(text)?.[0] ?? '';
  return /\p{Lu}|^(?:v|version)$/u.test(word) ? folded(word) : null;
}

/** The values that a number may have in its language. A sign that the language does not use may mean either. */
function read(token: string, behind: string, signs: Signs): Omit<Written, 'name'> {
  const groups = token.split(/\D/);
  const separators = [...token.replace(/\d/g, '')];
  const last = separators.at(-1);
  const whole = Number(groups.join(''));
  const decimal = Number(`${groups.slice(0, -1).join('')}.${groups.at(-1)}`);
  const areThousands =
    groups.slice(1, -1).every(({ length }) => length === 3 || length === 2) && groups.at(-1)?.length === 3;
  const values: number[] = [];
  const parts: number[] = [];
  if (last === undefined) {
    values.push(whole);
    // '90s for 1990s.
    if (whole >= 1900 && whole < 2100) parts.push(whole % 100);
  } else if (separators.length === 1) {
    if (areThousands && !signs.decimal.has(last)) values.push(whole);
    if (!SPACES.test(last) && !(areThousands && signs.group.has(last))) values.push(decimal);
    if (SPACES.test(last) || (groups[0]?.length ?? 0) > 3) parts.push(...groups.map(Number));
  } else if (separators.every((separator) => separator === last)) {
    if (areThousands) values.push(whole);
    else parts.push(...groups.map(Number));
  } else {
    values.push(decimal);
    if (areThousands) values.push(whole);
    parts.push(...groups.map(Number));
  }
  const afternoon = /^(?:[:.]\d\d)?\s?[pP]\.?\s?[mM]\b/.test(behind) ? values.map((value) => value + 12) : [];
  const scaled = scalesOf(behind).flatMap((scale) => values.map((value) => value * scale));
  return { text: token, values: [...values, ...afternoon, ...scaled], parts };
}

const isNear = (one: number, other: number): boolean =>
  Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(one));

/** Whether one value of a number, or all of its parts, are in `there`. */
function isAmong({ values, parts }: Pick<Written, 'values' | 'parts'>, there: readonly number[]): boolean {
  const has = (value: number): boolean => there.some((other) => isNear(value, other));
  return values.some(has) || (parts.length > 0 && parts.every(has));
}

const readingsOf = (numbers: readonly Written[]): number[] =>
  numbers.flatMap(({ values, parts }) => [...values, ...parts]);

/** The numbers missing from the others and, checked last because it is slow, from the number words. */
function without(
  numbers: readonly Written[],
  others: readonly Written[],
  values: readonly number[],
  words: () => readonly number[],
): Written[] {
  const rest = numbers.filter((number) => !isAmong(number, values) && !others.some(isNamesake(number)));
  if (rest.length === 0) return rest;
  const all = [...values, ...words()];
  return rest.filter((number) => !isAmong(number, all));
}

/** The same version of the same thing, such as `Python 3.125`, is no amount. */
const isNamesake =
  ({ text, name }: Written) =>
  (other: Written): boolean =>
    name !== null && text.includes('.') && text === other.text && name === other.name;

/** Compares the numbers and dates of two texts without markup by value (contract.md V40). */
export function checkNumbers(source: string, translated: string, languages: LanguagePair): Defect[] {
  const { sourceLanguage, targetLanguage } = languages;
  const [before, after] = [toAsciiDigits(source), toAsciiDigits(translated)];
  const from = numbersIn(before, sourceLanguage);
  const to = numbersIn(after, targetLanguage);
  if (from.length === 0 && to.length === 0) return [];
  const mayBeWords = !hasNumberWords(targetLanguage) && to.length < from.length;
  const lost = without(from, to, readingsOf(to), () => [
    ...writtenNumbers(after, targetLanguage),
    ...monthsIn(translated, targetLanguage),
  ]).filter((number) => !isSmall(number, mayBeWords ? DAYS : SMALL));
  const added = without(to, from, [...readingsOf(from), MIDNIGHT], () => [
    ...writtenNumbers(before, sourceLanguage),
    ...monthsIn(source, sourceLanguage),
  ]);
  const names = (numbers: readonly Written[]) =>
    [...new Set(numbers.map(({ text }) => quoted(text)))].slice(0, 5).join(', ');
  const what = [
    ...(lost.length > 0 ? [`${names(lost)} of the text is missing`] : []),
    ...(added.length > 0 ? [`${names(added)} is not in the text`] : []),
  ];
  if (what.length > 0) return [soft('numbers', `the numbers differ: ${what.join('; ')}`)];
  const otherDay = dateOfAnotherDay(before, after, languages);
  if (otherDay !== null) {
    return [soft('numbers', `${quoted(otherDay)} is another day than in the text: mind the order of dates`)];
  }
  return keepsOrder(sourceLanguage, targetLanguage) &&
    haveChangedPlaces(
      numbersIn(withoutDates(before), sourceLanguage),
      numbersIn(withoutDates(after), targetLanguage),
    )
    ? [soft('numbers', 'the numbers are in the wrong places: put each where it belongs')]
    : [];
}

/** The first date of the translation that is none of the text's dates. */
function dateOfAnotherDay(
  source: string,
  translated: string,
  { sourceLanguage, targetLanguage }: LanguagePair,
): string | null {
  const days = new Set(datesIn(source, sourceLanguage).flatMap((date) => date.days));
  if (days.size === 0) return null;
  const other = datesIn(translated, targetLanguage).find((date) => !date.days.some((day) => days.has(day)));
  return other?.text ?? null;
}

/** Languages with a similar word and date order, in which numbers keep their order. */
const SAME_ORDER = new Set('en de es fr it pt nl da no nb nn sv pl cs sk ru uk ro ca el'.split(' '));

const keepsOrder = (...languages: readonly string[]): boolean =>
  languages.every((language) => SAME_ORDER.has(baseLanguage(language)));

/** True when two numbers that occur once in each text are swapped. */
function haveChangedPlaces(from: readonly Written[], to: readonly Written[]): boolean {
  const once = (numbers: readonly Written[]): Written[] =>
    numbers.filter(
      (number) =>
        !isSmall(number) && numbers.filter((other) => isAmong(number, readingsOf([other]))).length === 1,
    );
  const there = once(to);
  const places = once(from).flatMap((number) => {
    const place = there.findIndex((other) => isAmong(number, readingsOf([other])));
    return place < 0 ? [] : [place];
  });
  return places.some((place, index) => index > 0 && place < (places[index - 1] ?? 0));
}

/** Small numbers may be written as words. */
const isSmall = ({ values }: Written, most = SMALL): boolean =>
  values.length > 0 && values.every((value) => value <= most && Number.isInteger(value));

/** How languages write numbers and dates in digits. */
import { perLanguage } from './checks/per-language.ts';

export interface LanguagePair {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
}

/** A language's decimal and thousands signs, in its own digits and in ASCII digits; all spaces as one. */
export interface Signs {
  readonly decimal: ReadonlySet<string>;
  readonly group: ReadonlySet<string>;
}

/** Digits with signs between them. */
export const NUMBER = String.raw`\d+(?:[.,٫٬'’\u00a0\u202f\u2009 ·](?=\d)\d+)*`;
const SPACES = /[\u00a0\u202f\u2009]/g;
const evenSpaces = (text: string): string => text.replace(SPACES, ' ').replaceAll('’', "'");

/** Digits of any script as ASCII digits; Unicode has them in tens. */
export function toAsciiDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const point = digit.codePointAt(0) ?? 0;
    if (point < 0x80) return digit;
    let first = point;
    while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
    return String((point - first) % 10);
  });
}

export const signsOf = perLanguage((language): Signs => {
  const parts = [{}, { numberingSystem: 'latn' }].flatMap((digits) =>
    new Intl.NumberFormat(language, digits).formatToParts(1_234_567.8),
  );
  const of = (wanted: string) =>
    new Set(parts.flatMap(({ type, value }) => (type === wanted ? evenSpaces(value) : [])));
  return { decimal: of('decimal'), group: of('group') };
});

type DateOrder = 'dmy' | 'mdy' | 'ymd';

/** The order and the sign of a language's short dates. */
const dateFormOf = perLanguage((language): { readonly order: DateOrder; readonly sign: string } => {
  const parts = new Intl.DateTimeFormat(language, {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    calendar: 'gregory',
    numberingSystem: 'latn',
    timeZone: 'UTC',
  }).formatToParts(Date.UTC(2025, 2, 4));
  const order = parts
    .flatMap(({ type }) => (/^(?:day|month|year)$/.test(type) ? type.charAt(0) : []))
    .join('');
  const literal = parts.find(({ type }) => type === 'literal')?.value ?? '';
  const sign = /[./-]/.exec(literal)?.[0] ?? '.';
  return { order: order === 'mdy' || order === 'ymd' ? order : 'dmy', sign };
});

/** A date in digits and the days that it may stand for: several where the order of day and month is open. */
export interface WrittenDate {
  readonly text: string;
  readonly days: readonly string[];
  /** True for 2025-03-04, which every language reads alike. */
  readonly iso: boolean;
}

const DATE = /(?<![\d.,/:-])(\d{1,4})([./-]) ?(\d{1,2})\2 ?(\d{1,4})(?![\d/:-]|[.,]\d)/g;

/** The dates of a text with ASCII digits, read in the order of its language. */
export function datesIn(text: string, language: string): WrittenDate[] {
  const { order } = dateFormOf(language);
  return [...text.matchAll(DATE)].flatMap(([written, first = '', sign = '', second = '', third = '']) => {
    const day = (year: string, month: string, date: string): string[] =>
      isDay(Number(month), Number(date)) ? [`${Number(year) % 100}-${Number(month)}-${Number(date)}`] : [];
    const [one, two] = [day(third, second, first), day(third, first, second)];
    let days: string[];
    if (first.length === 4) days = third.length <= 2 ? day(first, second, third) : [];
    else if (!isYear(first, sign, second, third)) days = [];
    else if (order === 'ymd') days = [...one, ...two];
    else days = order === 'dmy' ? firstOf(one, two) : firstOf(two, one);
    return days.length === 0 ? [] : { text: written, days, iso: first.length === 4 && sign === '-' };
  });
}

const isDay = (month: number, date: number): boolean => month >= 1 && month <= 12 && date >= 1 && date <= 31;
const firstOf = (one: string[], other: string[]): string[] => (one.length > 0 ? one : other);

/** A year of two digits needs slashes, or two digits in every place: 1.2.25 is a version. */
const isYear = (first: string, sign: string, second: string, third: string): boolean =>
  first.length <= 2 &&
  (third.length === 4 ||
    (third.length === 2 && (sign === '/' || (first.length === 2 && second.length === 2))));

/** The text with spaces in place of its dates. */
export const withoutDates = (text: string): string => text.replace(DATE, (date) => ' '.repeat(date.length));

const FIGURE = new RegExp(String.raw`(?<![\p{L}\d:.,])${NUMBER}(?![\p{L}\d:])`, 'gu');

/**
 * True for a text without letters whose numbers or dates the target language writes with other signs or in another
 * order (contract.md V40). Whole numbers without signs, times, versions, addresses and ISO dates are alike everywhere.
 */
export function needsLocalising(text: string, { sourceLanguage, targetLanguage }: LanguagePair): boolean {
  if (!/\p{Nd}/u.test(text)) return false;
  const plain = toAsciiDigits(text);
  const [from, to] = [dateFormOf(sourceLanguage), dateFormOf(targetLanguage)];
  const dates = datesIn(plain, sourceLanguage).filter(({ iso }) => !iso);
  if (dates.length > 0 && (from.order !== to.order || from.sign !== to.sign)) return true;
  const signs = { from: signsOf(sourceLanguage), to: signsOf(targetLanguage) };
  return (withoutDates(plain).match(FIGURE) ?? []).some((token) =>
    isWrittenOtherwise(evenSpaces(token), signs),
  );
}

/** True for a number as its language writes it, with a sign that the other language does not use so. */
function isWrittenOtherwise(token: string, { from, to }: { from: Signs; to: Signs }): boolean {
  const [, whole = '', end = ''] = /^(.*?)(?:(\D)\d+)?$/.exec(token) ?? [];
  const isDecimal = end !== '' && from.decimal.has(end);
  const grouped = isDecimal ? whole : token;
  const groups = grouped.split(/\D/);
  const signs = [...new Set(grouped.replace(/\d/g, ''))];
  const areGroups =
    groups.length === 1 ||
    (signs.length === 1 &&
      signs.every((sign) => from.group.has(sign)) &&
      groups.slice(1, -1).every(({ length }) => length === 2 || length === 3) &&
      groups.at(-1)?.length === 3 &&
      (groups[0]?.length ?? 0) <= 3);
  if (!areGroups || isAddress(groups)) return false;
  return (isDecimal && !to.decimal.has(end)) || signs.some((sign) => !to.group.has(sign));
}

/** Four numbers of an Internet address. */
const isAddress = (groups: readonly string[]): boolean =>
  groups.length === 4 && groups.every((group) => Number(group) <= 255);

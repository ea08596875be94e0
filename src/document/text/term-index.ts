/** Finds which of many terms occur in a text, in any script. */

import { nameKey } from '../../name-key.ts';
import type { TextRange } from './literals.ts';
import { type Stems, stemsOf } from './stems.ts';

/** A term to find. */
export interface Term {
  readonly source: string;
  readonly caseSensitive: boolean;
  /** Null for a name that stays as it is; names are not inflected. */
  readonly target?: string | null;
}

/** Scripts without spaces between words: any character may begin or end a term. */
const UNSPACED =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}';
/** Korean words begin after a space; endings follow without one. */
const HANGUL = '\\p{sc=Hangul}';
const LETTERS = '[\\p{L}\\p{M}\\p{N}]';
const WORD = `[${LETTERS}--[${UNSPACED}${HANGUL}]]`;
/** Where a term may begin. */
const START = new RegExp(
  `(?<!${WORD})${WORD}|(?<!${HANGUL})${HANGUL}|[${LETTERS}&&[${UNSPACED}]]|[^\\s${LETTERS}]`,
  'gv',
);
/** Where no term may end: within a word, or before a mark of its last letter. */
const WITHIN = new RegExp(`(?<=${WORD})${WORD}|\\p{M}`, 'yv');

/** Normalises letters (NFC), white space and apostrophes. */
const even = (text: string): string => text.normalize('NFC').replace(/\s+/g, ' ').replaceAll('’', "'");

/** A text with the stems of its words in their places. */
interface StemmedText {
  readonly text: string;
  /** The words in order, and the place of each stem. */
  readonly words: readonly string[];
  readonly places: ReadonlyMap<number, number>;
}

const WORDS = new RegExp(`${LETTERS}+`, 'gv');

function stemmed(evened: string, { stem }: Stems): StemmedText {
  const words: string[] = [];
  const places = new Map<number, number>();
  let text = '';
  let at = 0;
  for (const { 0: word, index } of evened.matchAll(WORDS)) {
    text += evened.slice(at, index);
    places.set(text.length, words.length);
    words.push(word);
    text += stem(word);
    at = index + word.length;
  }
  return { text: text + evened.slice(at), words, places };
}

interface Entry<T> {
  readonly form: string;
  readonly terms: T[];
  /** The longest other entry that is a prefix of this one. */
  readonly shorter: Entry<T> | undefined;
}

/** Sorted entries. A text's prefixes among them are the last entry not after it, and that entry's own prefixes. */
class SortedTerms<T> {
  private readonly entries: Entry<T>[] = [];
  private readonly firsts: ReadonlySet<number | undefined>;

  constructor(terms: readonly (readonly [form: string, term: T])[]) {
    const open: Entry<T>[] = [];
    for (const [form, term] of terms.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))) {
      for (let last = open.at(-1); last !== undefined && !form.startsWith(last.form); last = open.at(-1))
        open.pop();
      const last = open.at(-1);
      if (last?.form === form) {
        last.terms.push(term);
        continue;
      }
      const entry = { form, terms: [term], shorter: last };
      this.entries.push(entry);
      open.push(entry);
    }
    this.firsts = new Set(this.entries.map(({ form }) => form.codePointAt(0)));
  }

  /** The entries at this place of the text, longest first. */
  *at(text: string, place: number): Generator<Entry<T>> {
    if (!this.firsts.has(text.codePointAt(place))) return;
    const rest = text.slice(place, place + MAX_FORM);
    let [low, high] = [0, this.entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.entries[middle]?.form ?? '') <= rest) low = middle + 1;
      else high = middle;
    }
    for (let entry = this.entries[low - 1]; entry !== undefined; entry = entry.shorter) {
      if (rest.startsWith(entry.form)) yield entry;
    }
  }
}

/** Characters of a term that are compared; glossary terms are shorter. */
const MAX_FORM = 400;

/** The longest entries that begin at each place of the text and end at the end of a word. */
function* entriesIn<T>(sorted: SortedTerms<T>, text: string): Generator<{ entry: Entry<T>; index: number }> {
  for (const { index } of text.matchAll(START)) {
    for (const entry of sorted.at(text, index)) {
      WITHIN.lastIndex = index + entry.form.length;
      if (!WITHIN.test(text)) yield { entry, index };
    }
  }
}

/** The terms as they are written: those whose case matters, and the others by their comparison key. */
function sortTerms<T extends Term>(terms: readonly T[]) {
  const of = (sensitive: boolean, formOf: (text: string) => string) =>
    new SortedTerms(
      terms
        .filter(({ caseSensitive }) => caseSensitive === sensitive)
        .map((term) => [formOf(even(term.source)), term] as const),
    );
  return { exact: of(true, (text) => text), anyCase: of(false, nameKey) };
}

/**
 * Indexes terms (some 5,000) and returns a function that finds those that occur as whole words in a plain text. It reads
 * the text once; its cost hardly depends on the number of terms.
 * @param language of the terms and texts: where it has a stemmer, translated terms are found inflected, too, unless
 *   their case matters (contract.md V12)
 */
export function indexTerms<T extends Term>(
  terms: readonly T[],
  language: string | null = null,
): (text: string) => T[] {
  const { exact, anyCase } = sortTerms(terms);
  const inflected = language === null ? null : indexInflected(terms, stemsOf(language));
  return (text) => {
    const evened = even(text);
    const found = new Set<T>();
    for (const [sorted, form] of [
      [exact, evened],
      [anyCase, nameKey(evened)],
    ] as const) {
      for (const { entry } of entriesIn(sorted, form)) for (const term of entry.terms) found.add(term);
    }
    for (const term of inflected?.(evened) ?? []) found.add(term);
    return [...found];
  };
}

/**
 * Indexes terms and returns a function that finds where they stand in a text in NFC, as they are written: in order,
 * without overlaps, of several at one place the longest.
 */
export function indexRanges(terms: readonly Term[]): (text: string) => TextRange[] {
  const { exact, anyCase } = sortTerms(terms);
  return (text) => {
    const evened = text.replace(/\s/g, ' ').replaceAll('’', "'");
    // A key may be longer than its letter.
    const places: number[] = [];
    let key = '';
    for (const { 0: character, index } of evened.matchAll(/./gsu)) {
      key += nameKey(character);
      while (places.length < key.length) places.push(index);
    }
    const found = [
      ...[...entriesIn(exact, evened)].map(({ entry, index }) => ({
        start: index,
        end: index + entry.form.length,
      })),
      ...[...entriesIn(anyCase, key)].map(({ entry, index }) => ({
        start: places[index] ?? 0,
        end: places[index + entry.form.length] ?? text.length,
      })),
    ].sort((one, other) => one.start - other.start || other.end - one.end);
    let end = 0;
    return found.filter((range) => {
      const isFree = range.start >= end;
      if (isFree) end = range.end;
      return isFree;
    });
  };
}

/** Finds terms by the stems of their words; null without a stemmer. */
function indexInflected<T extends Term>(
  terms: readonly T[],
  stems: Stems | null,
): ((evened: string) => T[]) | null {
  if (stems === null) return null;
  const sorted = new SortedTerms(
    terms
      .filter(({ caseSensitive, target }) => !caseSensitive && target !== null)
      .map((term) => {
        const { text, words } = stemmed(even(term.source), stems);
        return [text, { term, words }] as const;
      }),
  );
  return (evened) => {
    const { text, words, places } = stemmed(evened, stems);
    const found: T[] = [];
    for (const { entry, index } of entriesIn(sorted, text)) {
      const first = places.get(index);
      for (const { term, words: wanted } of entry.terms) {
        const areForms = wanted.every((word, place) =>
          stems.areForms(word, words[(first ?? words.length) + place] ?? ''),
        );
        if (areForms) found.push(term);
      }
    }
    return found;
  };
}

/** Finds which of many terms occur in a text, in any script. */

import { nameKey } from '../../name-key.ts';

/** A term to find. */
export interface Term {
  readonly source: string;
  readonly caseSensitive: boolean;
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

/**
 * Indexes terms (some 5,000) and returns a function that finds those that occur as whole words in a plain text. It reads
 * the text once; its cost hardly depends on the number of terms.
 */
export function indexTerms<T extends Term>(terms: readonly T[]): (text: string) => T[] {
  const exact = new SortedTerms(
    terms.filter(({ caseSensitive }) => caseSensitive).map((term) => [even(term.source), term] as const),
  );
  const anyCase = new SortedTerms(
    terms
      .filter(({ caseSensitive }) => !caseSensitive)
      .map((term) => [nameKey(even(term.source)), term] as const),
  );
  return (text) => {
    const found = new Set<T>();
    const evened = even(text);
    for (const [sorted, form] of [
      [exact, evened],
      [anyCase, nameKey(evened)],
    ] as const) {
      for (const { index } of form.matchAll(START)) {
        for (const entry of sorted.at(form, index)) {
          WITHIN.lastIndex = index + entry.form.length;
          if (!WITHIN.test(form)) for (const term of entry.terms) found.add(term);
        }
      }
    }
    return [...found];
  };
}

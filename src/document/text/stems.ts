/** Stems of words, by the Snowball algorithm of their language. */
import { stemmer as arabic } from '@orama/stemmers/arabic';
import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as english } from '@orama/stemmers/english';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as greek } from '@orama/stemmers/greek';
import { stemmer as hungarian } from '@orama/stemmers/hungarian';
import { stemmer as hindi } from '@orama/stemmers/indian';
import { stemmer as indonesian } from '@orama/stemmers/indonesian';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as lithuanian } from '@orama/stemmers/lithuanian';
import { stemmer as nepali } from '@orama/stemmers/nepali';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as romanian } from '@orama/stemmers/romanian';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { stemmer as tamil } from '@orama/stemmers/tamil';
import { stemmer as turkish } from '@orama/stemmers/turkish';
import { folded } from './characters.ts';

const STEMMERS: Readonly<Record<string, (word: string) => string>> = {
  ar: arabic,
  da: danish,
  de: german,
  el: greek,
  en: english,
  es: spanish,
  fi: finnish,
  fr: french,
  hi: hindi,
  hu: hungarian,
  id: indonesian,
  it: italian,
  lt: lithuanian,
  nb: norwegian,
  ne: nepali,
  nl: dutch,
  nn: norwegian,
  no: norwegian,
  pt: portuguese,
  ro: romanian,
  ru: russian,
  sv: swedish,
  ta: tamil,
  tr: turkish,
};

/** Longer words are no words of a language; they keep their endings. */
const MAX_WORD = 40;
/** The most stems that are remembered of a language. */
const MAX_REMEMBERED = 5_000;
/** Endings of inflected English words: the stemmer takes off more, and has one stem for "general" and "generator". */
const ENGLISH_ENDING = /^(?:s|d|es|e|y|ies|ied|ying|[bdfgklmnprtz]?(?:ed|ing))?$/;
/** The longest ending by which two forms of a word differ, in letters. */
const MAX_ENDING = 4;

/** The words of a language. */
export interface Stems {
  /** The stem of a word, folded: without case and accents. */
  stem(word: string): string;
  /** True for two forms of one word; false for words that are derived from one another. */
  areForms(one: string, other: string): boolean;
}

const known = new Map<string, Stems>();

/** The stems of a language tag; null for a language without a stemmer. */
export function stemsOf(language: string): Stems | null {
  const base = language.split('-', 1).join('').toLowerCase();
  const before = known.get(base);
  const stemmer = STEMMERS[base];
  if (before !== undefined || stemmer === undefined) return before ?? null;
  const remembered = new Map<string, string>();
  const stem = (word: string): string => {
    const there = remembered.get(word);
    if (there !== undefined) return there;
    const lower = word.normalize('NFC').toLowerCase();
    const made = folded(lower.length > MAX_WORD ? lower : stemmer(lower));
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(word, made);
    return made;
  };
  const isEnding = (ending: string): boolean =>
    base === 'en' ? ENGLISH_ENDING.test(ending) : ending.length <= MAX_ENDING;
  const areForms = (one: string, other: string): boolean => {
    if (stem(one) !== stem(other)) return false;
    const [a, b] = [folded(one), folded(other)];
    let same = 0;
    while (same < a.length && a[same] === b[same]) same += 1;
    return isEnding(a.slice(same)) && isEnding(b.slice(same));
  };
  const stems = { stem, areForms };
  known.set(base, stems);
  return stems;
}

/** Translations that are far too short or too long. */
import { type Defect, hard, soft } from './defects.ts';
import { baseLanguage } from './text.ts';

/** Weight of a script's letter in English letters. */
const WEIGHTS: readonly (readonly [RegExp, number])[] = [
  [/\p{Script=Han}/u, 3],
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, 1.6],
  [/\p{Script=Hangul}/u, 2],
  [/(?=\p{L})[\p{Script=Arabic}\p{Script=Hebrew}]/u, 1.25],
  // A letter with its vowel is one letter and marks, or one sign.
  [
    /(?=\p{L})[\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Ethiopic}]/u,
    1.55,
  ],
  [/[\p{L}\p{N}]/u, 1],
];

/** Usual length of a language relative to English, as natural logarithm of the ratio; 0 when not listed. */
const GROWTH: Readonly<Record<string, number>> = {
  ar: -0.14,
  cs: -0.02,
  da: 0.06,
  de: 0.14,
  el: 0.12,
  en: 0,
  es: 0.1,
  fi: 0.06,
  fr: 0.13,
  he: -0.15,
  hu: 0.08,
  it: 0.1,
  ja: 0.02,
  ko: -0.22,
  nl: 0.1,
  no: 0.04,
  nb: 0.04,
  pl: 0.08,
  pt: 0.08,
  ro: 0.1,
  ru: 0.13,
  sv: 0.04,
  tr: 0.03,
  uk: 0.08,
  zh: -0.14,
};

/** Texts below this many English letters are not checked. */
const LEAST = 12;
/** Ratios that make a longer text unusable: under a third of the expected length, or over four times. */
const FAR = { short: -1.1, long: 1.4, from: 100 } as const;

/** Letters and digits of a text, weighted as English letters. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const character of text) length += WEIGHTS.find(([script]) => script.test(character))?.[1] ?? 0;
  return length;
}

/** Compares the lengths of two texts without markup, by the usual ratio of the languages and the text's size. */
export function checkLength(
  source: string,
  translated: string,
  { sourceLanguage, targetLanguage }: { sourceLanguage: string; targetLanguage: string },
): Defect[] {
  const from = lengthOf(source);
  const to = lengthOf(translated);
  if (from < LEAST) return [];
  const [before, after] = [GROWTH[baseLanguage(sourceLanguage)], GROWTH[baseLanguage(targetLanguage)]];
  const unknown = before === undefined || after === undefined ? 0.25 : 0;
  const off = Math.log(Math.max(to, 0.5) / from) - ((after ?? 0) - (before ?? 0));
  // Shorter texts vary more.
  const short = -(0.28 + 2.5 / Math.sqrt(from)) - unknown;
  const long = 0.35 + 3 / Math.sqrt(from) + unknown;
  if (off >= short && off <= long) return [];
  const isFar = from >= FAR.from && (off < FAR.short - unknown || off > FAR.long + unknown);
  const message =
    off < 0
      ? 'the translation is much shorter than the text: translate all of it'
      : 'the translation is much longer than the text: add nothing to it';
  return [(isFar ? hard : soft)('length', message)];
}

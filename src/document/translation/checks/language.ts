/** Translations in the source language, or in a third one. */

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { eld as Eld } from 'eld/extrasmall';
import { languageName } from '../../../language-names.ts';
import { folded } from '../../text/characters.ts';
import { type Defect, untranslated } from './defects.ts';
import { lengthOf } from './length.ts';
import { scriptOf } from './script.ts';
import { baseLanguage, isSameLanguage } from './text.ts';

/** A source and its translation, without markup. */
export interface Pair {
  readonly source: string;
  readonly translated: string;
}

interface Languages {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
}

/** The fewest letters for judging a text alone; shorter texts are judged together. */
const LONG = 36;
/** The fewest letters for which the detector's first choice is reliable. */
const SURE = 80;
/** The lead that another language needs over the wanted one, in a text of `LONG` letters and of `SURE` letters. */
const AHEAD = { long: 0.12, sure: 0.015 } as const;
/** The lowest score of a detected language. */
const LEAST_SCORE = 0.55;
/** Characters of a text that the detector reads. */
const READ = 800;
/** Languages that the detector confuses. */
const ALIKE = [
  ['no', 'da'],
  ['cs', 'sk'],
  ['hr', 'sr', 'sl'],
];
/** Share of the source's words from which a text counts as echoed when its language cannot be detected. */
const SAME_WORDS = 0.8;

/** The detector's codes where they differ from ours. */
const CODES: Readonly<Record<string, string>> = { nb: 'no', nn: 'no', fil: 'tl', iw: 'he', in: 'id' };
/** Scripts that the detector knows a language in, where it is not the usual one. */
const LEARNED: Readonly<Record<string, string>> = { ku: 'Arab' };
/** Languages that in Latin letters read like another one. */
const IN_LATIN: Readonly<Record<string, string>> = { bs: 'hr', sr: 'hr' };

interface Detector {
  readonly eld: typeof Eld;
  /** The codes of the languages that it knows. */
  readonly known: ReadonlySet<string>;
}

let loaded: Detector | undefined;

/** Loaded with the first text: its tables take 29 MB, which most threads and servers never need. */
function detector(): Detector {
  if (loaded === undefined) {
    // By its path: the package names this entry for `import` alone.
    const path = fileURLToPath(import.meta.resolve('eld/extrasmall'));
    const { eld } = createRequire(import.meta.url)(path) as { readonly eld: typeof Eld };
    loaded = { eld, known: new Set(Object.values(eld.info().Languages)) };
  }
  return loaded;
}

/** The detector's code of a language as the text writes it; null when it does not know the language so. */
function codeFor(tag: string, text: string): string | null {
  const base = baseLanguage(tag);
  const code = CODES[base] ?? base;
  const learned = LEARNED[base] ?? new Intl.Locale(base).maximize().script;
  const isOther = isWrittenIn(text, tag) && !isWrittenIn(text, `${base}-${learned}`);
  const there = isOther ? IN_LATIN[base] : code;
  return there !== undefined && detector().known.has(there) ? there : null;
}

/** True when at least half of the letters are of the language's script, or when that is unknown. */
function isWrittenIn(text: string, tag: string): boolean {
  const script = scriptOf(tag);
  const letters = text.slice(0, READ).match(/\p{L}/gu) ?? [];
  return script === null || letters.filter((letter) => script.test(letter)).length * 2 >= letters.length;
}

export const ECHO = 'the text came back untranslated';

const scoresOf = (text: string): Readonly<Record<string, number>> =>
  detector().eld.detect(text.slice(0, READ)).getScores();

/** The best language with this lead over the wanted one that is not confused with it; null when there is none. */
function bestInstead(scores: Readonly<Record<string, number>>, wanted: string, ahead: number): string | null {
  const [best = '', score = 0] = Object.entries(scores)[0] ?? [];
  const isAlike = ALIKE.some((group) => group.includes(best) && group.includes(wanted));
  return !isAlike && score >= LEAST_SCORE && score > (scores[wanted] ?? 0) + ahead ? best : null;
}

/**
 * The language of a text if it is not the wanted one; null when it may be, or when detection fails.
 * @param ahead the lead that the detector must give it
 */
export function languageInstead(text: string, wanted: string, ahead: number): string | null {
  const code = codeFor(wanted, text);
  return code === null ? null : bestInstead(scoresOf(text), code, ahead);
}

/** The language of a translation if it is not the wanted one; null when it may be. */
function otherLanguage(text: string, { sourceLanguage, targetLanguage }: Languages): string | null {
  const [from, to] = [codeFor(sourceLanguage, text), codeFor(targetLanguage, text)];
  if (from === to || to === null) return null;
  const scores = scoresOf(text);
  const isSure = lengthOf(text) >= SURE;
  const isSource = (scores[from ?? ''] ?? 0) > (scores[to] ?? 0) + (isSure ? AHEAD.sure : AHEAD.long);
  if (isSource) return sourceLanguage;
  return isSure ? bestInstead(scores, to, AHEAD.sure) : null;
}

const wordsIn = (text: string): string[] => folded(text).match(/[\p{L}\p{M}]+/gu) ?? [];

/** True when most words of the translation occur in the source. */
function hasSameWords({ source, translated }: Pair): boolean {
  const there = new Set(wordsIn(source));
  const words = wordsIn(translated);
  return words.length > 0 && words.filter((word) => there.has(word)).length >= SAME_WORDS * words.length;
}

/** Checks one text, if it is long enough. */
export function checkLanguage(pair: Pair, languages: Languages): Defect[] {
  const { source, translated } = pair;
  if (isSameLanguage(languages.sourceLanguage, languages.targetLanguage)) return [];
  if (Math.min(lengthOf(source), lengthOf(translated)) < LONG || !/\p{L}/u.test(translated)) return [];
  const other = otherLanguage(translated, languages);
  if (other === null) {
    const isDetectable =
      codeFor(languages.targetLanguage, translated) !== null &&
      codeFor(languages.sourceLanguage, source) !== null;
    return !isDetectable && hasSameWords(pair) ? [untranslated('echo', ECHO)] : [];
  }
  if (isSameLanguage(other, languages.sourceLanguage)) return [untranslated('echo', ECHO)];
  return [
    untranslated(
      'language',
      `the translation is in ${languageName(other)}: translate into ${languageName(languages.targetLanguage)}`,
    ),
  ];
}

/**
 * Checks unchanged short texts together: a single one may be a name, but joined their language can be detected.
 * @returns the indexes of untranslated texts
 */
export function echoedAmong(pairs: readonly Pair[], languages: Languages): number[] {
  if (isSameLanguage(languages.sourceLanguage, languages.targetLanguage)) return [];
  const short = [...pairs.entries()].filter(
    ([, { source }]) => lengthOf(source) < LONG && /\p{L}/u.test(source),
  );
  const same = short.filter(
    ([, { source, translated }]) => wordsIn(source).join(' ') === wordsIn(translated).join(' '),
  );
  const joined = same.map(([, { translated }]) => translated).join('\n');
  if (same.length < 2 || lengthOf(joined) < LONG) return [];
  const other = otherLanguage(joined, languages);
  const isEchoed =
    other === null
      ? codeFor(languages.targetLanguage, joined) === null && same.length * 2 > short.length
      : isSameLanguage(other, languages.sourceLanguage);
  return isEchoed ? same.map(([index]) => index) : [];
}

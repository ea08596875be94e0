/** Translations in the source language, or in a third one. */
import { eld } from 'eld/extrasmall';
import { languageName } from '../../../language-names.ts';
import { type Defect, untranslated } from './defects.ts';
import { lengthOf } from './length.ts';
import { baseLanguage, folded, isSameLanguage } from './text.ts';

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
const codeOf = (tag: string): string => CODES[baseLanguage(tag)] ?? baseLanguage(tag);

const KNOWN = new Set(Object.values(eld.info().Languages));

export const ECHO = 'the text came back untranslated';

const scoresOf = (text: string): Readonly<Record<string, number>> =>
  eld.detect(text.slice(0, READ)).getScores();

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
export const languageInstead = (text: string, wanted: string, ahead: number): string | null =>
  KNOWN.has(codeOf(wanted)) ? bestInstead(scoresOf(text), codeOf(wanted), ahead) : null;

/** The language of a translation if it is not the wanted one; null when it may be. */
function otherLanguage(text: string, { sourceLanguage, targetLanguage }: Languages): string | null {
  const [from, to] = [codeOf(sourceLanguage), codeOf(targetLanguage)];
  if (from === to || !KNOWN.has(to)) return null;
  const scores = scoresOf(text);
  const isSure = lengthOf(text) >= SURE;
  const isSource = (scores[from] ?? 0) > (scores[to] ?? 0) + (isSure ? AHEAD.sure : AHEAD.long);
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
  if (Math.min(lengthOf(source), lengthOf(translated)) < LONG) return [];
  const other = otherLanguage(translated, languages);
  if (other === null) {
    const isDetectable =
      KNOWN.has(codeOf(languages.targetLanguage)) && KNOWN.has(codeOf(languages.sourceLanguage));
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
    ([, { source }]) => lengthOf(source) < LONG && lengthOf(source) > 0,
  );
  const same = short.filter(
    ([, { source, translated }]) => wordsIn(source).join(' ') === wordsIn(translated).join(' '),
  );
  const joined = same.map(([, { translated }]) => translated).join('\n');
  if (same.length < 2 || lengthOf(joined) < LONG) return [];
  const other = otherLanguage(joined, languages);
  const isEchoed =
    other === null
      ? !KNOWN.has(codeOf(languages.targetLanguage)) && same.length * 2 > short.length
      : isSameLanguage(other, languages.sourceLanguage);
  return isEchoed ? same.map(([index]) => index) : [];
}

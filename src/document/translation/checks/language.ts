/** Texts that came back in the source's language, or in a third one. */
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

/** Letters from which on one text is judged by itself; shorter ones together. */
const LONG = 36;
/** Letters from which on the detector's first choice is right. */
const SURE = 80;
/** What another language must be ahead of the wanted one by to be believed: in a text of `LONG` letters, and of `SURE` ones. */
const AHEAD = { long: 0.12, sure: 0.015 } as const;
/** Score from which on a text is in a language at all. */
const LEAST_SCORE = 0.55;
/** Characters of a text that its language is told by. */
const READ = 800;
/** Languages that the detector takes for each other. */
const ALIKE = [
  ['no', 'da'],
  ['cs', 'sk'],
  ['hr', 'sr', 'sl'],
];
/** Share of a text's words that the source has, too, from which on it counts as echoed where nobody can tell its language. */
const SAME_WORDS = 0.8;

/** Codes of the detector, which has one for Norwegian and for Tagalog. */
const CODES: Readonly<Record<string, string>> = { nb: 'no', nn: 'no', fil: 'tl', iw: 'he', in: 'id' };
const codeOf = (tag: string): string => CODES[baseLanguage(tag)] ?? baseLanguage(tag);

const KNOWN = new Set(Object.values(eld.info().Languages));

export const ECHO = 'the text came back untranslated';

const scoresOf = (text: string): Readonly<Record<string, number>> =>
  eld.detect(text.slice(0, READ)).getScores();

/** The language that is ahead of the wanted one by so much, and not like it; null when none is. */
function bestInstead(scores: Readonly<Record<string, number>>, wanted: string, ahead: number): string | null {
  const [best = '', score = 0] = Object.entries(scores)[0] ?? [];
  const isAlike = ALIKE.some((group) => group.includes(best) && group.includes(wanted));
  return !isAlike && score >= LEAST_SCORE && score > (scores[wanted] ?? 0) + ahead ? best : null;
}

/**
 * The language that a text is in instead of the wanted one; null when it may be that, or nobody can tell.
 * @param ahead by how much the detector must prefer it
 */
export const languageInstead = (text: string, wanted: string, ahead: number): string | null =>
  KNOWN.has(codeOf(wanted)) ? bestInstead(scoresOf(text), codeOf(wanted), ahead) : null;

/** The language that a translation is in instead of the wanted one; null when it may be that. */
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

/** True when most of the translation's words are the source's. */
function hasSameWords({ source, translated }: Pair): boolean {
  const there = new Set(wordsIn(source));
  const words = wordsIn(translated);
  return words.length > 0 && words.filter((word) => there.has(word)).length >= SAME_WORDS * words.length;
}

/** Judges one text, if it is long enough. */
export function checkLanguage(pair: Pair, languages: Languages): Defect[] {
  const { source, translated } = pair;
  if (isSameLanguage(languages.sourceLanguage, languages.targetLanguage)) return [];
  if (Math.min(lengthOf(source), lengthOf(translated)) < LONG) return [];
  const other = otherLanguage(translated, languages);
  if (other === null) {
    const isTold = KNOWN.has(codeOf(languages.targetLanguage)) && KNOWN.has(codeOf(languages.sourceLanguage));
    return !isTold && hasSameWords(pair) ? [untranslated('echo', ECHO)] : [];
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
 * Judges short texts that came back as they were by looking at all of them: one may be a name, many of them read as one
 * text are in some language.
 * @returns indexes of those that count as untranslated
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

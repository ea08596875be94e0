/** How many words each part of an article is asked for. The words of an outline are shares, not lengths. */
import { countTextWords } from '../document/format/words.ts';
import { bodyWords, FAQ_WORDS, type GenerationConfig } from './config.ts';
import { MAX_WORDS_PER_SECTION, type Outline } from './outline.ts';

/** Words that a part is asked for at least, its heading apart. */
const MIN_ASKED = 10;
/** Words that a section has of the body at least, where there are enough. */
const MIN_SHARE = 20;
/** How far a section may make good what those before it wrote too much or too little. */
const LEAST_OF_SHARE = 0.5;
const MOST_OF_SHARE = 1.5;
/** A section may differ by this part of its words, or by so many words. */
const TOLERANCE = 0.25;
const TOLERANCE_WORDS = 40;
/** Words that all calls together may ask for, as a multiple of wordCount. */
const MAX_ASKED_RATIO = 2;
const MIN_FAQ_WORDS = 180;
const MAX_FAQ_WORDS = 320;

type Lengths = Pick<GenerationConfig, 'wordCount' | 'faq'>;

/** A part that is written: its words without its heading, and those that were asked for. */
export interface PartLength {
  readonly words: number;
  readonly asked: number;
}

/** What a part is to be asked for. */
export interface AskedLength {
  readonly words: number;
  /** Words that may be asked for after the first call, in repairs. */
  readonly spare: number;
}

/**
 * The words of each section, its heading included: whole numbers that add up to `words` (contract.md G33). What a section
 * would have beyond what a model writes at once goes to the others.
 */
export function scaleLengths(
  sections: readonly { readonly estimatedWords: number }[],
  words: number,
): number[] {
  const least = Math.min(MIN_SHARE, Math.floor(words / sections.length));
  // Of too few sections each has more, so that the lengths still add up.
  const most = Math.max(MAX_WORDS_PER_SECTION, Math.ceil(words / sections.length));
  const lengths = sections.map(() => most);
  let open = sections.map(({ estimatedWords }, index) => ({ index, share: estimatedWords }));
  for (;;) {
    const free = words - most * (sections.length - open.length) - least * open.length;
    const shares = sum(open.map(({ share }) => share));
    const within = open.filter(({ share }) => least + (free * share) / shares < most);
    if (within.length < open.length) {
      open = within;
      continue;
    }
    let [given, passed] = [0, 0];
    for (const { index, share } of open) {
      passed += share;
      const upTo = Math.round((free * passed) / shares);
      lengths[index] = least + upTo - given;
      given = upTo;
    }
    return lengths;
  }
}

/** True when a section is as long as it was asked for. */
export const isNear = (words: number, asked: number): boolean =>
  Math.abs(words - asked) <= Math.max(asked * TOLERANCE, TOLERANCE_WORDS);

/**
 * What the next section is asked for: its share of the words that are left. Whatever the writer answers, all
 * calls of a run ask for at most twice wordCount, and the first call of every part has its words (contract.md G34).
 * @param finished the sections before it
 */
export function sectionLength(
  config: Lengths,
  outline: Outline,
  finished: readonly PartLength[],
): AskedLength {
  const planned = scaleLengths(outline.sections, bodyWords(config));
  const index = finished.length;
  const own = planned[index] ?? 0;
  const later = sum(planned.slice(index + 1));
  const left = bodyWords(config) - writtenWords(outline, finished);
  const adapted = clamp((left * own) / (own + later), own * LEAST_OF_SHARE, own * MOST_OF_SHARE);
  const wanted = Math.round(adapted) - countTextWords(outline.sections[index]?.heading ?? '');
  const reserved = later + (config.faq ? FAQ_WORDS : 0);
  const most = Math.min(own * MOST_OF_SHARE, Math.max(own, MAX_WORDS_PER_SECTION));
  return asked(config, finished, reserved, clamp(wanted, Math.min(own, MIN_ASKED), most), own);
}

/** The same for the questions after the last section. */
export function faqLength(config: Lengths, outline: Outline, finished: readonly PartLength[]): AskedLength {
  const left = bodyWords(config) + FAQ_WORDS - writtenWords(outline, finished);
  return asked(config, finished, 0, clamp(left, MIN_FAQ_WORDS, MAX_FAQ_WORDS), FAQ_WORDS);
}

/** @param own the words that are certainly left for this part */
function asked(
  { wordCount }: Lengths,
  finished: readonly PartLength[],
  reserved: number,
  wanted: number,
  own: number,
): AskedLength {
  const left = wordCount * MAX_ASKED_RATIO - sum(finished.map((part) => part.asked)) - reserved;
  const words = Math.floor(Math.min(wanted, Math.max(own, left)));
  return { words, spare: Math.max(0, left - words) };
}

const writtenWords = ({ sections }: Outline, finished: readonly PartLength[]): number =>
  sum(finished.map(({ words }, index) => words + countTextWords(sections[index]?.heading ?? '')));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

/** Target length of each part of an article. The words of an outline are shares, not lengths. */
import { countTextWords } from '../document/format/words.ts';
import { bodyWords, FAQ_WORDS, type GenerationConfig } from './config.ts';
import { MAX_WORDS_PER_SECTION, type Outline } from './outline.ts';

/** Lowest target of a part, without its heading. */
const MIN_TARGET = 10;
/** Lowest share of a section in words, where the body has enough. */
const MIN_SHARE = 20;
/** Bounds of a target as a ratio of the section's share: it compensates for earlier sections that are too long or short. */
const MIN_SHARE_RATIO = 0.5;
const MAX_SHARE_RATIO = 1.5;
/** Tolerated difference from the target: this ratio, or `TOLERANCE_WORDS` if that is more. */
const TOLERANCE = 0.25;
const TOLERANCE_WORDS = 40;
/** Bound on the words that all calls together request, as a multiple of wordCount. */
const MAX_REQUESTED_RATIO = 2;
const MIN_FAQ_WORDS = 180;
const MAX_FAQ_WORDS = 320;

type Lengths = Pick<GenerationConfig, 'wordCount' | 'faq'>;

/** A written part: its words without its heading, and the words requested over all its calls. */
export interface PartLength {
  readonly words: number;
  readonly asked: number;
}

/** The words to request for a part. */
export interface TargetLength {
  readonly words: number;
  /** Words left for repairs after the first call. */
  readonly spare: number;
}

/**
 * Words of each section, heading included: integers that add up to `words` (contract.md G33). A section's share is capped
 * at what a model writes in one response; the excess goes to the others.
 */
export function scaleLengths(
  sections: readonly { readonly estimatedWords: number }[],
  words: number,
): number[] {
  const min = Math.min(MIN_SHARE, Math.floor(words / sections.length));
  // Of too few sections each has more, so that the lengths still add up.
  const max = Math.max(MAX_WORDS_PER_SECTION, Math.ceil(words / sections.length));
  const lengths = sections.map(() => max);
  let open = sections.map(({ estimatedWords }, index) => ({ index, share: estimatedWords }));
  for (;;) {
    const free = words - max * (sections.length - open.length) - min * open.length;
    const shares = sum(open.map(({ share }) => share));
    const within = open.filter(({ share }) => min + (free * share) / shares < max);
    if (within.length < open.length) {
      open = within;
      continue;
    }
    let [given, passed] = [0, 0];
    for (const { index, share } of open) {
      passed += share;
      const upTo = Math.round((free * passed) / shares);
      lengths[index] = min + upTo - given;
      given = upTo;
    }
    return lengths;
  }
}

/** True when a part's length is within the tolerance of its target. */
export const isNear = (words: number, target: number): boolean =>
  Math.abs(words - target) <= Math.max(target * TOLERANCE, TOLERANCE_WORDS);

/**
 * Target of the next section: its share of the remaining words. Whatever the writer returns, all calls of a run request at
 * most twice wordCount, and the first call of every part has its words (contract.md G34).
 * @param finished the sections before it
 */
export function sectionLength(
  config: Lengths,
  outline: Outline,
  finished: readonly PartLength[],
): TargetLength {
  const planned = scaleLengths(outline.sections, bodyWords(config));
  const index = finished.length;
  const own = planned[index] ?? 0;
  const later = sum(planned.slice(index + 1));
  const left = bodyWords(config) - writtenWords(outline, finished);
  const adapted = clamp((left * own) / (own + later), own * MIN_SHARE_RATIO, own * MAX_SHARE_RATIO);
  const wanted = Math.round(adapted) - countTextWords(outline.sections[index]?.heading ?? '');
  const reserved = later + (config.faq ? FAQ_WORDS : 0);
  const max = Math.min(own * MAX_SHARE_RATIO, Math.max(own, MAX_WORDS_PER_SECTION));
  return withinBudget(config, finished, reserved, clamp(wanted, Math.min(own, MIN_TARGET), max), own);
}

/** Target of the FAQ, after the last section. */
export function faqLength(config: Lengths, outline: Outline, finished: readonly PartLength[]): TargetLength {
  const left = bodyWords(config) + FAQ_WORDS - writtenWords(outline, finished);
  return withinBudget(config, finished, 0, clamp(left, MIN_FAQ_WORDS, MAX_FAQ_WORDS), FAQ_WORDS);
}

/** Cuts a target to the words that the run may still request. @param own this part's share, which it always gets */
function withinBudget(
  { wordCount }: Lengths,
  finished: readonly PartLength[],
  reserved: number,
  wanted: number,
  own: number,
): TargetLength {
  const left = wordCount * MAX_REQUESTED_RATIO - sum(finished.map((part) => part.asked)) - reserved;
  const words = Math.floor(Math.min(wanted, Math.max(own, left)));
  return { words, spare: Math.max(0, left - words) };
}

const writtenWords = ({ sections }: Outline, finished: readonly PartLength[]): number =>
  sum(finished.map(({ words }, index) => words + countTextWords(sections[index]?.heading ?? '')));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);

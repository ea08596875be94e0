/** Target length of each part of an article. The words of an outline are shares, not lengths. */
import { countTextWords } from '../document/format/words.ts';
import { bodyWords, faqWords, type GenerationConfig } from './config.ts';
import { MAX_WORDS_PER_SECTION, type Outline } from './outline.ts';

/** Lowest target of a part, without its heading. */
const MIN_TARGET = 10;
/** Lowest share of a section in words, where the body has enough. */
const MIN_SHARE = 20;
/** How far a target may be from the section's share, to make good what those before it are too long or too short. */
const MAX_OFF = 0.1;
/** What a part may have of its share, and all of them together beyond that. */
const MAX_RATIO = 1.15;
const SLACK_WORDS = 60;
/** Tolerated difference from the target: this ratio, or `TOLERANCE_WORDS` if that is more. */
const TOLERANCE = 0.25;
const TOLERANCE_WORDS = 40;

/** What an article has to be long, and the words of its lead, which the sections leave it. */
export interface Lengths extends Pick<GenerationConfig, 'wordCount' | 'faq'> {
  readonly lead: number;
}

/** A written part, without its heading. */
export interface PartLength {
  readonly words: number;
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

/** True when a part is so much shorter than its target that it is worth another call. */
export const isShort = (words: number, target: number): boolean =>
  target - words > Math.max(target * TOLERANCE, TOLERANCE_WORDS);

/** Words of all sections. */
const sectionWords = (lengths: Lengths): number => bodyWords(lengths) - lengths.lead;

/** Words of each part: those of `scaleLengths`, and those of the questions at the end. With the lead they add up to wordCount. */
export function partLengths(config: Lengths, outline: Outline): number[] {
  const sections = scaleLengths(outline.sections, sectionWords(config));
  return config.faq ? [...sections, faqWords(config)] : sections;
}

/**
 * Words to ask for in the next section: its share of the remaining words, at most a tenth from its own, without its heading
 * (contract.md G34).
 * @param finished the sections before it; those that are left out have no words
 */
export function sectionTarget(config: Lengths, outline: Outline, finished: readonly PartLength[]): number {
  const planned = scaleLengths(outline.sections, sectionWords(config));
  const index = finished.length;
  const own = planned[index] ?? 0;
  const later = sum(planned.slice(index + 1));
  const left =
    sectionWords(config) - sum(finished.map((part, at) => writtenWords(part, headingWords(outline, at))));
  const adapted = clamp(
    (left * own) / Math.max(1, own + later),
    own * (1 - MAX_OFF),
    Math.min(own * (1 + MAX_OFF), Math.max(own, MAX_WORDS_PER_SECTION)),
  );
  return Math.max(Math.min(own, MIN_TARGET), Math.round(adapted) - headingWords(outline, index));
}

/** Words to ask for in the questions at the end. @param heading words of the heading above them */
export const faqTarget = (config: Omit<Lengths, 'lead'>, heading: number): number =>
  Math.max(MIN_TARGET, faqWords(config) - heading);

/**
 * The most words of the next part, without its heading, at least 1 (contract.md G59): 1.15 times its share. Over all parts
 * there may be 60 words more, which long headings use up.
 * @param heading words of the heading above it
 */
export function roomFor(
  config: Lengths,
  outline: Outline,
  finished: readonly PartLength[],
  heading: number,
): number {
  const shares = partLengths(config, outline).map((share) => Math.floor(share * MAX_RATIO));
  let slack = SLACK_WORDS;
  for (const [index, part] of finished.entries()) {
    const over = writtenWords(part, headingWords(outline, index)) - (shares[index] ?? 0);
    // What is less than a share makes good what was too much, and is no more room for others.
    slack = over > 0 ? slack - over : Math.min(slack - over, Math.max(slack, 0));
  }
  const own = (shares[finished.length] ?? 0) - heading;
  return Math.max(1, own >= MIN_TARGET ? own + Math.min(0, slack) : Math.min(MIN_TARGET, own + slack));
}

/** The most words of all sections and questions, with their headings. */
export const bodyRoom = ({ wordCount, lead }: Lengths): number =>
  Math.floor((wordCount - lead) * MAX_RATIO) + SLACK_WORDS;

/** The most words of a lead of so many (contract.md G83), in an article that has these without it. */
export const leadRoom = ({ wordCount, lead }: Lengths, written: number): number =>
  Math.min(Math.floor(lead * MAX_RATIO), Math.floor(wordCount * MAX_RATIO) + SLACK_WORDS - written);

const headingWords = ({ sections }: Outline, index: number): number =>
  countTextWords(sections[index]?.heading ?? '');

/** What is left out has neither text nor heading. */
const writtenWords = ({ words }: PartLength, heading: number): number => (words === 0 ? 0 : words + heading);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);

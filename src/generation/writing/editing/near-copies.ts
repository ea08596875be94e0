/** Paragraphs of different parts that say nearly the same. */
import type { Block } from '../../../document/format/schema.ts';
import { comparedWords, isCharacter, visibleTexts } from './words.ts';

/** Share of a paragraph's words that stand in trigrams of the other. */
const MIN_SHARE = 0.6;
const MIN_WORDS = 25;
/** Characters of a script without spaces that count as one word. */
const CHARACTERS_PER_WORD = 2;
const TRIGRAM = 3;
/** Paragraphs remembered for one trigram: the first ones, so that the work stays linear. */
const MAX_HOLDERS = 20;
/** Copies that are reported. */
const MAX_COPIES = 40;

/** A paragraph and the earlier one that it nearly copies. */
export interface NearCopy {
  readonly blockId: string;
  readonly ofBlockId: string;
  /** Share of the shorter one's words that the other has in the same order, from 0.6 to 1. */
  readonly share: number;
}

interface Paragraph {
  readonly part: number;
  readonly id: string;
  readonly length: number;
  readonly trigrams: readonly string[];
  /** How often each trigram occurs. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Near copies among the paragraphs and quotes of different parts, each named once with the earlier one that is nearest. A
 * word counts as copied when it stands in a trigram that the other has, so that changing single words hides nothing. Linear
 * in the words.
 * @param parts the blocks of each part, in order
 */
export function findNearCopies(parts: readonly (readonly Block[])[]): NearCopy[] {
  const holders = new Map<string, Paragraph[]>();
  const copies: NearCopy[] = [];
  for (const paragraph of parts.flatMap(paragraphsOf)) {
    const copy = nearestOf(paragraph, holders);
    if (copy !== null && copies.length < MAX_COPIES) copies.push(copy);
    for (const trigram of paragraph.counts.keys()) {
      const held = holders.get(trigram);
      if (held === undefined) holders.set(trigram, [paragraph]);
      else if (held.length < MAX_HOLDERS) held.push(paragraph);
    }
  }
  return copies;
}

function paragraphsOf(blocks: readonly Block[], part: number): Paragraph[] {
  return blocks.flatMap((block) => {
    if (block.type !== 'paragraph' && block.type !== 'quote') return [];
    const words = comparedWords(visibleTexts([block]).join(' '));
    const characters = words.filter(isCharacter).length;
    if (words.length - characters + characters / CHARACTERS_PER_WORD < MIN_WORDS) return [];
    const trigrams = words
      .slice(TRIGRAM - 1)
      .map((_, index) => words.slice(index, index + TRIGRAM).join(' '));
    const counts = new Map<string, number>();
    for (const trigram of trigrams) counts.set(trigram, (counts.get(trigram) ?? 0) + 1);
    return { part, id: block.id, length: words.length, trigrams, counts };
  });
}

/** The nearest of the earlier paragraphs that hold a trigram of this one; null when none is a near copy. */
function nearestOf(
  paragraph: Paragraph,
  holders: ReadonlyMap<string, readonly Paragraph[]>,
): NearCopy | null {
  /** Trigrams of the shorter one of the two that both have. */
  const shared = new Map<Paragraph, number>();
  for (const [trigram, count] of paragraph.counts) {
    for (const other of holders.get(trigram) ?? []) {
      if (other.part === paragraph.part) continue;
      const more = other.length < paragraph.length ? (other.counts.get(trigram) ?? 0) : count;
      shared.set(other, (shared.get(other) ?? 0) + more);
    }
  }
  let nearest: NearCopy | null = null;
  for (const [other, count] of shared) {
    const [short, long] = other.length < paragraph.length ? [other, paragraph] : [paragraph, other];
    // A trigram covers three words at most, so that only pairs are compared that share as much as comparing costs.
    if (count * TRIGRAM < short.length * MIN_SHARE) continue;
    const share = shareOf(short, long.counts);
    if (share >= MIN_SHARE && share > (nearest?.share ?? 0)) {
      nearest = { blockId: paragraph.id, ofBlockId: other.id, share };
    }
  }
  return nearest;
}

/** Share of the paragraph's words that stand in one of these trigrams. */
function shareOf({ length, trigrams }: Paragraph, known: ReadonlyMap<string, number>): number {
  let [covered, upTo] = [0, 0];
  for (const [index, trigram] of trigrams.entries()) {
    if (!known.has(trigram)) continue;
    covered += index + TRIGRAM - Math.max(upTo, index);
    upTo = index + TRIGRAM;
  }
  return covered / length;
}

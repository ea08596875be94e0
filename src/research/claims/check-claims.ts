/** Which of the sentences that a model chose are claims of the article. */
import { MAX_CLAIMS } from '../limits.ts';

/** A block's text as shown, with the number by which a model names it: its place in the list, from 1. */
export interface ClaimBlock {
  readonly blockId: string;
  readonly text: string;
}

/** A sentence as a model gave it. */
export interface ProposedClaim {
  readonly block: number;
  readonly sentence: string;
}

/** A sentence that stands in its block. */
export interface Claim {
  readonly blockId: string;
  readonly sentence: string;
}

/** Characters of a sentence. */
const MAX_SENTENCE = 600;
const MAX_PROPOSED = 100;

const fold = (text: string): string => text.replace(/\s+/gu, ' ').trim();

/** Keeps the sentences that stand word for word in their blocks, in the order of the text, each once, at most MAX_CLAIMS. */
export function checkClaims(
  proposed: readonly ProposedClaim[],
  blocks: readonly ClaimBlock[],
): readonly Claim[] {
  const texts = blocks.map(({ text }) => fold(text));
  const found = new Map<string, { readonly claim: Claim; readonly block: number; readonly at: number }>();
  for (const { block, sentence: given } of proposed.slice(0, MAX_PROPOSED)) {
    const sentence = fold(given.slice(0, MAX_SENTENCE + 1));
    const at = texts[block - 1]?.indexOf(sentence) ?? -1;
    const blockId = blocks[block - 1]?.blockId;
    if (at < 0 || blockId === undefined || sentence === '' || sentence.length > MAX_SENTENCE) continue;
    found.set(`${block} ${sentence}`, { claim: { blockId, sentence }, block, at });
  }
  return [...found.values()]
    .slice(0, MAX_CLAIMS)
    .sort((a, b) => a.block - b.block || a.at - b.at)
    .map(({ claim }) => claim);
}

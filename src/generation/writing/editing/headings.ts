/** Headings that could be exchanged. */
import type { Block } from '../../../document/format/schema.ts';
import { comparedStems, visibleTexts } from './words.ts';

/** Pairs that are reported. */
const MAX_PAIRS = 40;

/** A heading and the first one that says the same. */
export interface SameHeading {
  readonly blockId: string;
  readonly asBlockId: string;
}

/** The headings with the same words as an earlier one, in any order and form. */
export function findSameHeadings(blocks: readonly Block[], language: string): SameHeading[] {
  const first = new Map<string, string>();
  const same: SameHeading[] = [];
  for (const block of blocks) {
    if (block.type !== 'heading') continue;
    const key = comparedStems(visibleTexts([block]).join(' '), language)
      .sort()
      .join(' ');
    const asBlockId = first.get(key);
    if (key === '') continue;
    if (asBlockId === undefined) first.set(key, block.id);
    else if (same.length < MAX_PAIRS) same.push({ blockId: block.id, asBlockId });
  }
  return same;
}

/** Pairs the blocks of two articles that say the same in two languages (contract.md T67). */
import type { Block } from '../format/schema.ts';
import type { Snapshot } from '../translation/source.ts';
import { fieldsOf } from './units.ts';

/** What decides whether and how well two blocks fit: numbers, because millions of pairs are compared. */
interface Traits {
  /** Type, level, number of items: only blocks of one kind are paired. */
  readonly kinds: Int32Array;
  /** Characters of their texts. */
  readonly lengths: Float64Array;
  /** What is the same in every language: figures, code, the bytes of an image. 0 for none. */
  readonly constants: Int32Array;
  readonly ids: Int32Array;
}

/** Blocks that one is compared with, before and after its place: what bounds the work. */
const REACH = 800;
/** One pair more outweighs whatever pairs have in common. */
const PAIR = 2 ** 20;
/** What a pair has in common, at most 91: so 10,000 pairs stay below `PAIR`. */
const SAME_CONSTANT = 50;
const SAME_LENGTH = 40;

/** A step back from the end: both blocks are paired, or that of one side is left out. */
const PAIRED = 1;
const SOURCE_LEFT = 2;
const VERSION_LEFT = 3;

/** Gives equal texts the same number, and the empty one 0. */
function numbering(): (text: string) => number {
  const numbers = new Map([['', 0]]);
  return (text) => {
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  };
}

/**
 * Pairs blocks of one type, level and number of items, in order, as many as possible; of several ways the one in which
 * figures, code, images and lengths fit best. Ids only decide between equals.
 * @returns indexes of the blocks, in order
 */
export function pairBlocks(
  source: Snapshot,
  version: Snapshot,
): (readonly [source: number, version: number])[] {
  const number = numbering();
  const from = traitsOf(source, number);
  const to = traitsOf(version, number);
  const total = (lengths: Float64Array): number => lengths.reduce((sum, length) => sum + length, 0);
  const scale = total(to.lengths) / Math.max(1, total(from.lengths));
  for (const [place, length] of from.lengths.entries()) from.lengths[place] = length * scale;
  return align(from, to);
}

function traitsOf({ document: { blocks }, assets }: Snapshot, number: (text: string) => number): Traits {
  const images = new Map<string, string>(assets.map(({ id, contentHash }) => [id, contentHash]));
  const texts = blocks.map((block) => fieldsOf('title', { type: 'block', block }).map(({ text }) => text));
  const textsIn = (place: number): readonly string[] => texts[place] ?? [];
  return {
    kinds: Int32Array.from(blocks, (block, place) => number(kindOf(block, textsIn(place).length))),
    lengths: Float64Array.from(texts, (own) => own.reduce((sum, text) => sum + text.length, 0)),
    constants: Int32Array.from(blocks, (block, place) => number(constantOf(block, textsIn(place), images))),
    ids: Int32Array.from(blocks, ({ id }) => number(id)),
  };
}

function kindOf(block: Block, texts: number): string {
  switch (block.type) {
    case 'heading':
      return `heading ${block.level}`;
    case 'list':
      return `list ${texts}`;
    case 'table':
      return `table ${block.header.length} ${block.rows.length}`;
    default:
      return block.type;
  }
}

function constantOf(block: Block, texts: readonly string[], images: ReadonlyMap<string, string>): string {
  if (block.type === 'code') return block.text;
  if (block.type === 'image') return images.get(block.assetId) ?? '';
  return texts
    .flatMap((text) => text.match(/\d+/g) ?? [])
    .sort()
    .join(' ');
}

/**
 * The best alignment by dynamic programming, over places near the diagonal: time and memory grow with the number of blocks,
 * not with its square.
 */
function align(from: Traits, to: Traits): (readonly [source: number, version: number])[] {
  const [rows, columns] = [from.kinds.length, to.kinds.length];
  const slope = rows === 0 ? 0 : columns / rows;
  const reach = REACH + Math.ceil(slope);
  const first = (row: number): number => Math.max(1, Math.round(row * slope) - reach);
  const last = (row: number): number => Math.min(columns, Math.round(row * slope) + reach);
  const width = Math.min(columns, 2 * reach + 1);
  const steps = new Uint8Array((rows + 1) * width);
  // Of each column the best so far: those before `first` have theirs from an earlier row.
  const best = new Float64Array(columns + 1);
  for (let row = 1; row <= rows; row += 1) {
    const [start, end] = [first(row), last(row)];
    const known = row === 1 ? 0 : last(row - 1);
    best.fill(best[known] ?? 0, known + 1, end + 1);
    let diagonal = best[start - 1] ?? 0;
    let before = diagonal;
    const kind = from.kinds[row - 1];
    const offset = row * width - start;
    for (let column = start; column <= end; column += 1) {
      const above = best[column] ?? 0;
      let value = above;
      let step = SOURCE_LEFT;
      if (before > value) {
        value = before;
        step = VERSION_LEFT;
      }
      if (kind === to.kinds[column - 1]) {
        const paired = diagonal + PAIR + likeness(from, row - 1, to, column - 1);
        if (paired > value) {
          value = paired;
          step = PAIRED;
        }
      }
      diagonal = above;
      before = value;
      best[column] = value;
      steps[offset + column] = step;
    }
  }
  const pairs: (readonly [number, number])[] = [];
  let [row, column] = [rows, columns];
  while (row > 0 && column > 0) {
    const [start, end] = [first(row), last(row)];
    const step =
      column > end ? VERSION_LEFT : column < start ? SOURCE_LEFT : steps[row * width + column - start];
    if (step === PAIRED) pairs.push([row - 1, column - 1]);
    if (step !== VERSION_LEFT) row -= 1;
    if (step !== SOURCE_LEFT) column -= 1;
  }
  return pairs.reverse();
}

function likeness(from: Traits, one: number, to: Traits, other: number): number {
  const length = from.lengths[one] ?? 0;
  const otherLength = to.lengths[other] ?? 0;
  const ratio = length < otherLength ? (length + 1) / (otherLength + 1) : (otherLength + 1) / (length + 1);
  const constant = from.constants[one];
  const isConstant = constant !== 0 && constant === to.constants[other];
  const isSameId = from.ids[one] === to.ids[other];
  return Math.round(SAME_LENGTH * ratio) + (isConstant ? SAME_CONSTANT : 0) + (isSameId ? 1 : 0);
}

/** A draft as the editor's pass reads it: with a number on each block that it may edit. */
import type { Block } from '../../../document/format/schema.ts';
import { parsingOnce } from '../../../document/inline/parse.ts';
import { renderMarkdown } from '../../../document/render/markdown.ts';
import { isEditable } from './apply-edits.ts';

/** A part below its heading. */
export interface HeadedPart {
  readonly heading: string;
  readonly blocks: readonly Block[];
}

/** A part as a model gets it. */
export interface NumberedPart {
  readonly heading: string;
  readonly blocks: readonly {
    /** Absent for a block that stays as it is. */
    readonly number?: number;
    readonly text: string;
    /** Words of the block that are linked. */
    readonly linked?: readonly string[];
  }[];
}

export interface NumberedDraft {
  readonly parts: readonly NumberedPart[];
  /** The blocks with a number, by it. */
  readonly editable: ReadonlyMap<number, Block>;
  /** The numbers, by the ids of their blocks. */
  readonly numbers: ReadonlyMap<string, number>;
}

/**
 * Numbers the blocks of a draft that may be edited, from 1 on.
 * @param isOpen whether a block that `isEditable` refuses may be edited all the same; none by default
 */
export function numberDraft(
  parts: readonly HeadedPart[],
  isOpen: (block: Block) => boolean = () => false,
): NumberedDraft {
  const editable = new Map<number, Block>();
  const numbers = new Map<string, number>();
  const number = ({ heading, blocks }: HeadedPart): NumberedPart => ({
    heading,
    blocks: blocks.map((block) => {
      const text = renderMarkdown({ version: 1, blocks: [withoutLinks(block)] }).trim();
      if (!isEditable(block) && !isOpen(block)) return { text };
      const at = editable.size + 1;
      editable.set(at, block);
      numbers.set(block.id, at);
      const links = 'links' in block ? (block.links ?? []) : [];
      return { number: at, text, ...(links.length === 0 ? {} : { linked: links.map((link) => link.text) }) };
    }),
  });
  return { parts: parsingOnce(() => parts.map(number)), editable, numbers };
}

/** The marks of links are for stored renderings. */
function withoutLinks(block: Block): Block {
  if (block.type !== 'paragraph' && block.type !== 'quote') return block;
  const { links: _, ...rest } = block;
  return rest;
}

/** Parts that are read at once, and how many are not read. */
export interface Readings {
  readonly readings: readonly (readonly NumberedPart[])[];
  readonly unread: number;
}

/**
 * The whole draft as one reading if it fits, else its halves, each without the parts at its end that do not fit.
 * @param bytes the most of one reading, as JSON
 */
export function splitDraft(parts: readonly NumberedPart[], bytes: number): Readings {
  const sizes = parts.map((part) => Buffer.byteLength(JSON.stringify(part)) + 1);
  const total = sum(sizes);
  if (total <= bytes) return { readings: [parts], unread: 0 };
  const enough = 1 + sizes.findIndex((_, index) => sum(sizes.slice(0, index + 1)) * 2 >= total);
  const middle = Math.min(Math.max(1, enough), Math.max(1, parts.length - 1));
  const halves = [parts.slice(0, middle), parts.slice(middle)].map((half, index) => {
    let left = bytes;
    return half.filter((_, at) => {
      left -= sizes[index * middle + at] ?? 0;
      return left >= 0;
    });
  });
  const readings = halves.filter(({ length }) => length > 0);
  return { readings, unread: parts.length - sum(readings.map(({ length }) => length)) };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

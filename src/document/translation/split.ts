/** Splits very long texts for engines, at sentence ends. */
import { serializeTags, type TagContent, tagText } from './tags.ts';

/** The most characters of a part in protected form; some 600 English words. */
export const MAX_PART_LENGTH = 4_000;

/** One part, and the white space after it. */
export interface TextPart {
  readonly nodes: TagContent[];
  readonly after: string;
}

// Spelled out, not taken from Intl.Segmenter: parts must be the same before and after an upgrade of its data.
const SENTENCE_END = /[.!?…]+["'”’»)\]]*\s+|[。！？｡]+[」』”’）]*\s*|\n+/g;
const WORD_END = /\s+/g;

/**
 * Splits a text into parts of at most `limit` characters, at sentence ends; a longer sentence at white space. Tags are
 * never split, so a part can be longer.
 */
export function splitLong(nodes: readonly TagContent[], limit = MAX_PART_LENGTH): TextPart[] {
  const whole: TextPart[] = [{ nodes: [...nodes], after: '' }];
  if (lengthOf(nodes) <= limit) return whole;
  const sentences = pack(cutAt(nodes, SENTENCE_END), limit);
  const parts = sentences.flatMap((part) =>
    lengthOf(part) > limit ? pack(cutAt(part, WORD_END), limit) : [part],
  );
  return parts.map(withoutSpaceAfter).filter((part) => part.nodes.length > 0);
}

/** Joins translated parts, with the space between sentences that their script needs. */
export function joinParts(parts: readonly TextPart[]): TagContent[] {
  return parts.flatMap(({ nodes, after }, index) => {
    if (index === parts.length - 1) return nodes;
    const text = tagText(nodes).trimEnd();
    const wide = /[。！？｡][」』”’）]*$/.test(text);
    const space = wide && after === ' ' ? '' : !wide && after === '' ? ' ' : after;
    return space === '' ? nodes : [...nodes, space];
  });
}

function lengthOf(nodes: readonly TagContent[]): number {
  return serializeTags(nodes).length;
}

/** Pieces that end at each match of the pattern, or at the end of the text. */
function cutAt(nodes: readonly TagContent[], end: RegExp): TagContent[][] {
  const pieces: TagContent[][] = [];
  let piece: TagContent[] = [];
  for (const node of nodes) {
    if (typeof node !== 'string') {
      piece.push(node);
      continue;
    }
    let at = 0;
    for (const match of node.matchAll(end)) {
      const stop = match.index + match[0].length;
      pieces.push([...piece, node.slice(at, stop)]);
      piece = [];
      at = stop;
    }
    if (at < node.length) piece.push(node.slice(at));
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}

/** Joins neighbouring pieces up to the limit. */
function pack(pieces: readonly TagContent[][], limit: number): TagContent[][] {
  const packed: TagContent[][] = [];
  let length = 0;
  for (const piece of pieces) {
    const last = packed.at(-1);
    const added = lengthOf(piece);
    if (last === undefined || length + added > limit) {
      packed.push([...piece]);
      length = added;
    } else {
      last.push(...piece);
      length += added;
    }
  }
  return packed;
}

function withoutSpaceAfter(nodes: TagContent[]): TextPart {
  const last = nodes.at(-1);
  if (typeof last !== 'string') return { nodes, after: '' };
  const kept = last.trimEnd();
  const rest = nodes.slice(0, -1);
  return { nodes: kept === '' ? rest : [...rest, kept], after: last.slice(kept.length) };
}

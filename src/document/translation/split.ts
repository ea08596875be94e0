/** Very long texts in parts that an engine can take, cut where sentences end. */
import { serializeTags, type TagContent, tagText } from './tags.ts';

/** Characters of protected form from which a text is cut; some 600 English words. */
export const MAX_PART_LENGTH = 4_000;

/** One part, and the white space that stood after it. */
export interface TextPart {
  readonly nodes: TagContent[];
  readonly after: string;
}

// Spelled out, not taken from Intl.Segmenter: parts must be the same before and after an upgrade of its data.
const SENTENCE_END = /[.!?…]+["'”’»)\]]*\s+|[。！？｡]+[」』”’）]*\s*|\n+/g;
const WORD_END = /\s+/g;

/**
 * Cuts a text into parts of at most `limit` characters: at sentence ends, a longer sentence at white space. Tags are
 * never cut, so a part is longer when a tag is, or when there is nowhere to cut.
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

/** The translated parts as one text again, with the space between sentences that their script wants. */
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

/** Stretches that each end where the pattern does, or at the end of the text. */
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

/** Neighbouring pieces together, as long as they fit. */
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

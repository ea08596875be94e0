/** Hashes of what a unit says, however it is written: texts as inline runs, fields with their default value left out. */
import { hash } from 'node:crypto';
import type { Block, SubList } from '../format/schema.ts';
import type { TextField } from '../format/walk.ts';
import { normalizeLines, parseInline } from '../inline/parse.ts';
import type { LinkTarget } from '../inline/runs.ts';
import type { UnitValue } from './types.ts';

/** Characters of a hash: 96 bits. */
const HASH_LENGTH = 16;

const hashOf = (value: unknown): string =>
  hash('sha256', JSON.stringify(value), 'base64url').slice(0, HASH_LENGTH);

type Text = Pick<TextField, 'text' | 'markdown' | 'links'>;

const NO_LINKS: Text['links'] = [];

/**
 * A text as its inline runs, with the words of its article links but not their articles. A text without marks and links
 * is a string, whatever its format.
 */
function canonicalText({ text, markdown, links }: Text): unknown {
  if (!markdown) {
    const words = normalizeLines(text);
    return links.length === 0 ? words : [words, ...links.map((link) => link.text)];
  }
  const runs = parseInline(text);
  const [first] = runs;
  if (first === undefined) return '';
  const isPlain = first.kind === 'text' && !first.strong && !first.emphasis && first.link === null;
  if (runs.length === 1 && isPlain) return normalizeLines(first.text);
  // Two neighbouring links to one address are not one link.
  const numbers = new Map<LinkTarget, number>();
  const numberOf = (link: LinkTarget): number => {
    const known = numbers.get(link) ?? numbers.size;
    numbers.set(link, known);
    return known;
  };
  return runs.map(({ kind, text: words, strong, emphasis, link }) => [
    kind,
    words,
    strong,
    emphasis,
    ...(link === null ? [] : [numberOf(link), link.url, link.title || null]),
  ]);
}

/** A block without its id, with `say` applied to its texts. */
function canonicalBlock(block: Block, say: (text: Text) => unknown): unknown[] {
  const markdown = 'format' in block && block.format === 'markdown';
  const inline = (text: string): unknown => say({ text, markdown, links: NO_LINKS });
  // An optional text that is empty shows as none.
  const optional = (text: string | undefined): unknown =>
    text ? say({ text, markdown: false, links: NO_LINKS }) : null;
  const list = ({ ordered, items, children }: SubList): unknown[] => [
    ordered,
    items.map((item, index) => {
      const child = children?.[index];
      return child ? [inline(item), list(child)] : [inline(item)];
    }),
  ];
  const { type } = block;
  switch (type) {
    case 'heading':
      return [type, block.level, inline(block.text)];
    case 'paragraph':
    case 'quote': {
      const links = markdown ? NO_LINKS : (block.links ?? NO_LINKS);
      const text = say({ text: block.text, markdown, links });
      const attribution = type === 'quote' ? optional(block.attribution) : null;
      return [type, text, links.map(({ articleId }) => articleId), attribution];
    }
    case 'list':
      return [type, list(block)];
    case 'table': {
      const align = block.align?.some((side) => side !== null) ? block.align : null;
      return [type, block.header.map(inline), block.rows.map((row) => row.map(inline)), align];
    }
    case 'image': {
      const altText = say({ text: block.altText, markdown: false, links: NO_LINKS });
      return [type, block.assetId, altText, optional(block.caption)];
    }
    case 'code':
      return [type, block.text, block.language || null];
    case 'divider':
      return [type];
  }
}

/** The hash of a text and the words of its links, without their articles. */
export const hashOfText = (text: Text): string => hashOf(canonicalText(text));

/** The hash of a unit without block and image ids, so that a block is found again after its id changes. */
export function hashOfValue(value: UnitValue): string {
  switch (value.type) {
    case 'block':
      return hashOf(canonicalBlock(value.block, canonicalText));
    case 'image': {
      const { role, contentHash, altText } = value.image;
      return hashOf([role, contentHash, altText]);
    }
    case 'text':
      return hashOf(value.text);
    case 'texts':
      return hashOf(value.texts);
  }
}

/** The hash of everything about a unit but the words of its texts. */
export function hashOfShape(value: UnitValue): string {
  switch (value.type) {
    case 'block':
      return hashOf(canonicalBlock(value.block, () => 0));
    case 'image':
      return hashOf([value.image.role, value.image.contentHash]);
    case 'text':
      return hashOf(value.text === null);
    case 'texts':
      return hashOf(value.texts.length);
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { Block, BlockType, DocumentJson } from '../../src/document/format/schema.ts';
import { collectTexts, mapTexts, type TextField } from '../../src/document/format/walk.ts';
import { parseInline } from '../../src/document/inline/parse.ts';
import { check } from './check.ts';

/** Every type of block that the document format has. */
const BLOCK_TYPES = [
  'heading',
  'paragraph',
  'list',
  'quote',
  'image',
  'code',
  'table',
  'divider',
] as const satisfies readonly BlockType[];

/** What a comparison counted. */
export interface Comparison {
  readonly blocks: number;
  readonly changedTexts: number;
  readonly links: number;
  readonly inlineCode: number;
}

/**
 * Insists that a translation is its source in other words: the same blocks with the same ids, code and addresses
 * byte by byte, every text with a letter in it changed, and the image replaced by its copy.
 *
 * @throws {UserError} naming the first block or text that differs
 */
export function compareDocuments(source: DocumentJson, target: DocumentJson): Comparison {
  const absent = BLOCK_TYPES.filter((type) => !source.blocks.some((block) => block.type === type));
  check(absent.length === 0, `the article lacks blocks of type ${absent.join(', ')}.`);
  const frames = frameOf(source);
  for (const [index, frame] of frameOf(target).entries()) {
    check(isDeepStrictEqual(frame, frames[index]), `block ${frame.id} changed in more than its words.`);
  }
  check(target.blocks.length === frames.length, `${frames.length} blocks became ${target.blocks.length}.`);
  const images = (document: DocumentJson) =>
    document.blocks.flatMap((block) => (block.type === 'image' ? [block.assetId] : []));
  check(!images(target).some((id) => images(source).includes(id)), 'an image was not copied.');
  const fields = collectTexts(source);
  const counts = { blocks: frames.length, changedTexts: 0, links: 0, inlineCode: 0 };
  for (const [index, translated] of collectTexts(target).entries()) {
    const { key } = translated;
    const field = fields[index];
    check(field?.key === key, `${key} has no source.`);
    const [before, after] = [partsOf(field), partsOf(translated)];
    check(isDeepStrictEqual(after.links, before.links), `the addresses of ${key} changed.`);
    check(isDeepStrictEqual(after.code, before.code), `the inline code of ${key} changed.`);
    const isChanged = after.words !== before.words;
    check(isChanged === /\p{L}/u.test(before.words), `${key} became "${translated.text}".`);
    counts.changedTexts += isChanged ? 1 : 0;
    counts.links += before.links.length;
    counts.inlineCode += before.code.length;
  }
  return counts;
}

/** The blocks without texts and images' ids: ids, types, nesting, tables' sizes and alignment, code. */
function frameOf(document: DocumentJson): Block[] {
  const { blocks } = mapTexts(document, ({ links }) => ({
    text: '',
    links: links.map((link) => ({ ...link, text: '' })),
  }));
  const frames = blocks.map((block) => (block.type === 'image' ? { ...block, assetId: '' } : block));
  // Without the keys that stand for an absent field.
  return JSON.parse(JSON.stringify(frames));
}

/** A text's words, its link addresses (each once) and its inline code. */
function partsOf({ markdown, text }: TextField): { words: string; links: string[]; code: string[] } {
  if (!markdown) return { words: text, links: [], code: [] };
  const runs = parseInline(text);
  const links = runs.flatMap(({ link }) => (link === null ? [] : [link.url]));
  return {
    words: runs.map((run) => (run.kind === 'text' ? run.text : '')).join(''),
    links: [...new Set(links)],
    code: runs.flatMap((run) => (run.kind === 'code' ? [run.text] : [])),
  };
}

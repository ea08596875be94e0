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
 * byte by byte, every text with a letter in it changed, and each image replaced by its copy.
 *
 * @param copies the target's asset ids by the source's
 * @throws {PlainError} naming the first block that differs
 */
export function compareDocuments(
  source: DocumentJson,
  target: DocumentJson,
  copies: ReadonlyMap<string, string>,
): Comparison {
  const present = new Set(source.blocks.map((block) => block.type));
  const absent = BLOCK_TYPES.filter((type) => !present.has(type));
  check(absent.length === 0, `the article lacks blocks of type ${absent.join(', ')}.`);
  check(
    target.blocks.length === source.blocks.length,
    `${source.blocks.length} blocks became ${target.blocks.length}.`,
  );
  const frames = frameOf(source);
  for (const [index, frame] of frameOf(target).entries()) {
    const expected = withCopy(frames[index], copies);
    check(
      isDeepStrictEqual(frame, expected),
      `block ${frame.id} (${frame.type}) changed in more than its words.`,
    );
  }
  const counts = { changedTexts: 0, links: 0, inlineCode: 0 };
  const fields = collectTexts(source);
  for (const [index, translated] of collectTexts(target).entries()) {
    const field = fields[index];
    check(field !== undefined && field.key === translated.key, `${translated.key} has no source.`);
    const { changed, links, inlineCode } = compareTexts(field, translated);
    counts.changedTexts += changed ? 1 : 0;
    counts.links += links;
    counts.inlineCode += inlineCode;
  }
  return { blocks: target.blocks.length, ...counts };
}

/** The blocks with every text taken out: ids, types, nesting, tables' sizes and alignment, code, assets. */
function frameOf(document: DocumentJson): Block[] {
  const { blocks } = mapTexts(document, ({ links }) => ({
    text: '',
    links: links.map((link) => ({ ...link, text: '' })),
  }));
  // Without the keys that stand for an absent field.
  return JSON.parse(JSON.stringify(blocks));
}

function withCopy(block: Block | undefined, copies: ReadonlyMap<string, string>): Block | undefined {
  if (block?.type !== 'image') return block;
  const assetId = copies.get(block.assetId);
  check(assetId !== undefined, `the image of block ${block.id} was not copied.`);
  return { ...block, assetId };
}

function compareTexts(
  source: TextField,
  target: TextField,
): { changed: boolean; links: number; inlineCode: number } {
  const before = partsOf(source);
  const after = partsOf(target);
  check(isDeepStrictEqual(after.links, before.links), `the addresses of ${source.key} changed.`);
  check(isDeepStrictEqual(after.code, before.code), `the inline code of ${source.key} changed.`);
  const translatable = /\p{L}/u.test(before.words);
  check(
    translatable === (after.words !== before.words),
    `${source.key} ${translatable ? 'was left as it was' : 'has no letter and changed'}.`,
  );
  return { changed: translatable, links: before.links.length, inlineCode: before.code.length };
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

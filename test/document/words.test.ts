import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Block } from '../../src/document/format/schema.ts';
import { serializeInline } from '../../src/document/inline/markdown.ts';
import { parseInline } from '../../src/document/inline/parse.ts';
import { textRun } from '../../src/document/inline/runs.ts';
import { compare } from '../../src/document/refresh/states.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import '../support/fast-check.ts';
import { anySource, NOTHING, parsedOnce, refresh, translateNew } from './versions.ts';

/** Ways to write a block that change no word of it; each leaves blocks alone that it is not about. */
const REWRITES: Readonly<Record<string, (block: Block) => Block>> = {
  'the format markdown over the same words': inMarkdown,
  'another marker of emphasis': (block) => marked(block, (text) => text.replaceAll('**', '__')),
  'an escape that is not needed': (block) => marked(block, (text) => text.replaceAll('é', '&#xe9;')),
  'lists without a list inside them': (block) =>
    block.type === 'list' && block.children === undefined
      ? { ...block, children: block.items.map(() => null) }
      : block,
  'columns without an alignment': (block) =>
    block.type === 'table' && block.align === undefined
      ? { ...block, align: block.header.map(() => null) }
      : block,
  'an empty caption, attribution or language': (block) => {
    if (block.type === 'image') return { ...block, caption: block.caption ?? '' };
    if (block.type === 'quote') return { ...block, attribution: block.attribution ?? '' };
    return block.type === 'code' ? { ...block, language: block.language ?? '' } : block;
  },
  'no links': (block) =>
    (block.type === 'paragraph' || block.type === 'quote') && block.links === undefined
      ? { ...block, links: [] }
      : block,
};

/** A plain block as Markdown. */
function inMarkdown(block: Block): Block {
  if ('format' in block && block.format === 'markdown') return block;
  if ('links' in block && (block.links ?? []).length > 0) return block;
  const write = (text: string): string => serializeInline([textRun(text)]);
  switch (block.type) {
    case 'heading':
    case 'paragraph':
    case 'quote':
      return { ...block, text: write(block.text), format: 'markdown' };
    case 'list': {
      const listOf = <List extends { items: string[]; children?: unknown }>(list: List): List => ({
        ...list,
        items: list.items.map(write),
        ...(Array.isArray(list.children)
          ? { children: list.children.map((child) => (child === null ? null : listOf(child))) }
          : {}),
      });
      return { ...listOf(block), format: 'markdown' };
    }
    case 'table':
      return {
        ...block,
        header: block.header.map(write),
        rows: block.rows.map((row) => row.map(write)),
        format: 'markdown',
      };
    default:
      return block;
  }
}

/** Rewrites a Markdown text where that leaves what it says. */
function marked(block: Block, rewrite: (text: string) => string): Block {
  if (!('format' in block) || block.format !== 'markdown' || !('text' in block)) return block;
  const text = rewrite(block.text);
  const same = JSON.stringify(parseInline(text)) === JSON.stringify(parseInline(block.text));
  return same ? { ...block, text } : block;
}

const rewritten = (article: Snapshot, rewrite: (block: Block) => Block): Snapshot => ({
  ...article,
  document: { version: 1, blocks: article.document.blocks.map(rewrite) },
});

// contract.md T40
it.each(Object.entries(REWRITES))('%s changes no state and buys nothing, on either side', (_, rewrite) => {
  fc.assert(
    parsedOnce(anySource, fc.boolean(), fc.boolean(), (source, inSource, inVersion) => {
      const made = translateNew(source);
      const from = inSource ? rewritten(source, rewrite) : source;
      const content = inVersion ? rewritten(made.content, rewrite) : made.content;
      const { units } = compare(from, content, made.provenance);
      expect(units.filter(({ state }) => state !== 'current')).toEqual([]);
      const { plan } = refresh(from, { ...made, content });
      expect(plan).toMatchObject({ steps: [], sent: 0, weight: 0 });
    }),
    { numRuns: 20 },
  );
});

const of = (block: Block): Snapshot => ({ ...NOTHING, document: { version: 1, blocks: [block] } });
const paragraph = (text: string, rest: object = {}): Block => ({ id: 'p', type: 'paragraph', text, ...rest });

// contract.md T40
it.each<[string, Block, Block]>([
  ['format', paragraph('Two words.'), paragraph('Two words.', { format: 'markdown' })],
  [
    'emphasis',
    paragraph('**Two** words.', { format: 'markdown' }),
    paragraph('__Two__ words.', { format: 'markdown' }),
  ],
  [
    'an escape',
    paragraph('Two - words.', { format: 'markdown' }),
    paragraph('Two \\- words\\.', { format: 'markdown' }),
  ],
  [
    'children',
    { id: 'l', type: 'list', ordered: false, items: ['a', 'b'] },
    { id: 'l', type: 'list', ordered: false, items: ['a', 'b'], children: [null, null] },
  ],
  [
    'align',
    { id: 't', type: 'table', header: ['a'], rows: [['b']] },
    { id: 't', type: 'table', header: ['a'], rows: [['b']], align: [null] },
  ],
  [
    'caption',
    { id: 'i', type: 'image', assetId: '11111111-1111-4111-8111-111111111111', altText: 'a' },
    { id: 'i', type: 'image', assetId: '11111111-1111-4111-8111-111111111111', altText: 'a', caption: '' },
  ],
  ['links', paragraph('Two words.'), paragraph('Two words.', { links: [] })],
])('%s alone is no edit: the source translates the same', (_, one, other) => {
  const made = translateNew(of(one));
  expect(refresh(of(other), made).plan).toMatchObject({ steps: [], sent: 0 });
  const [written] = made.content.document.blocks;
  expect(written).toBeDefined();
  const same = compare(of(other), made.content, made.provenance).units;
  expect(same.map(({ state }) => state)).toEqual(same.map(() => 'current'));
});

// contract.md T40
it('a list that is Markdown now and has a new item sends that item alone', () => {
  const list = (items: string[], rest: object = {}): Block =>
    ({ id: 'l', type: 'list', ordered: false, items, ...rest }) as Block;
  const made = translateNew(of(list(['one', '*two*'])));
  const { segments } = refresh(of(list(['one', '\\*two\\*', 'three'], { format: 'markdown' })), made);
  expect(segments.map(({ text }) => text)).toEqual(['three']);
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Block } from '../../src/document/format/schema.ts';
import { markPairs, pairSides } from '../../src/document/refresh/attach.ts';
import { pairBlocks } from '../../src/document/refresh/pair-blocks.ts';
import { compare } from '../../src/document/refresh/states.ts';
import type { UnitKey } from '../../src/document/refresh/types.ts';
import { fieldsOf } from '../../src/document/refresh/units.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import '../support/fast-check.ts';
import { anySource, edit, edits, NOTHING, parsedOnce, refresh, translateNew } from './versions.ts';

const AT = '2026-11-23T08:00:00.000Z';

/** What only blocks of one pair may share. */
function kindOf(block: Block | undefined): unknown[] {
  if (block?.type === 'heading') return ['heading', block.level];
  if (block?.type === 'list') return ['list', fieldsOf('title', { type: 'block', block }).length];
  if (block?.type === 'table') return ['table', block.header.length, block.rows.length];
  return [block?.type];
}

const withOwnIds = (article: Snapshot): Snapshot => ({
  ...article,
  document: {
    version: 1,
    blocks: article.document.blocks.map((block, index): Block => ({ ...block, id: `own${index}` })),
  },
});

const articleOf = (blocks: readonly Partial<Block>[]): Snapshot => ({
  ...NOTHING,
  title: 'A title',
  document: { version: 1, blocks: blocks.map((block, index) => ({ id: `b${index}`, ...block }) as Block) },
});
const paragraphs = (texts: readonly string[]) =>
  articleOf(texts.map((text) => ({ type: 'paragraph' as const, text })));

/** The most pairs that any way in order has. */
function mostPairs(source: Snapshot, version: Snapshot): number {
  const [from, to] = [source, version].map(({ document }) =>
    document.blocks.map((block) => JSON.stringify(kindOf(block))),
  ) as [string[], string[]];
  const most = Array.from({ length: from.length + 1 }, () => new Array<number>(to.length + 1).fill(0));
  for (const [i, one] of from.entries()) {
    for (const [j, other] of to.entries()) {
      const [above = 0, left = 0, diagonal = 0] = [most[i]?.[j + 1], most[i + 1]?.[j], most[i]?.[j]];
      (most[i + 1] ?? [])[j + 1] = Math.max(above, left, one === other ? diagonal + 1 : 0);
    }
  }
  return most[from.length]?.[to.length] ?? 0;
}

/** Two articles: one edited from the translation of the other, or any other. */
const twoArticles = fc
  .record({ source: anySource, other: fc.option(anySource, { freq: 2 }), changes: edits(8) })
  .map(({ source, other, changes }) => ({
    source,
    version: other ?? withOwnIds(edit(translateNew(source).content, changes, 'own')),
  }));

// contract.md T67
it('pairs only blocks of one type, level and number of items, each once, in order, as many as there can be', () => {
  fc.assert(
    parsedOnce(twoArticles, ({ source, version }) => {
      const pairs = pairBlocks(source, version);
      for (const [index, [one, other]] of pairs.entries()) {
        expect(kindOf(source.document.blocks[one])).toEqual(kindOf(version.document.blocks[other]));
        const [before = [-1, -1]] = pairs.slice(Math.max(0, index - 1), index);
        expect(one > before[0] && other > before[1]).toBe(true);
      }
      expect(pairs).toHaveLength(mostPairs(source, version));
    }),
    { numRuns: 60 },
  );
});

// contract.md T67
it('pairs every unit of an article with that of its own translation, whatever its ids are', () => {
  fc.assert(
    parsedOnce(anySource, (source) => {
      const version = withOwnIds(translateNew(source).content);
      const { pairs, onlyInSource, onlyInVersion } = pairSides(source, version);
      expect([onlyInSource, onlyInVersion]).toEqual([[], []]);
      const blocks = source.document.blocks.map(({ id }, index) => ({
        source: `block:${id}`,
        version: `block:own${index}`,
      }));
      expect(pairs.filter((pair) => pair.source.startsWith('block:'))).toEqual(blocks);
    }),
    { numRuns: 40 },
  );
});

// contract.md T67
it('leaves out the paragraph that has no counterpart by lengths, figures and images, not by ids', () => {
  const source = paragraphs([
    'Roses were first planted here in 1850 by monks.',
    'Water them.',
    'They flower from May until the first frost, and longest where they have sun in the morning and shade after noon.',
    'Cut them back to 3 buds.',
  ]);
  const version = paragraphs([
    'Riéguelas.',
    'Florecen de mayo a la primera helada, y por más tiempo donde tienen sol por la mañana y sombra después del mediodía.',
    'Pódelas a 3 yemas.',
  ]);
  expect(pairBlocks(source, version)).toEqual([
    [1, 0],
    [2, 1],
    [3, 2],
  ]);
  const images = (names: readonly string[]) => ({
    ...articleOf(names.map((assetId) => ({ type: 'image' as const, assetId, altText: '' }))),
    assets: names.map((id) => ({ id, role: 'inline', contentHash: id.slice(2), altText: '' })) as never,
  });
  expect(pairBlocks(images(['s-a', 's-b', 's-c']), images(['v-b', 'v-c']))).toEqual([
    [1, 0],
    [2, 1],
  ]);
});

// contract.md T67
it('takes a moment for the longest articles, and for one that is far longer than the other', () => {
  const long = paragraphs(Array.from({ length: 10_000 }, (_, index) => `Paragraph ${index}.`));
  const shorter = paragraphs(
    Array.from({ length: 10_000 }, (_, index) => `Párrafo ${index}.`).filter((_, index) => index % 100 > 2),
  );
  const began = performance.now();
  const pairs = pairBlocks(long, shorter);
  expect(performance.now() - began).toBeLessThan(4_000);
  expect(pairs).toHaveLength(9_700);
  const right = pairs.filter(([one, other]) => {
    const [from, to] = [long.document.blocks[one], shorter.document.blocks[other]] as { text: string }[];
    return from?.text.match(/\d+/)?.[0] === to?.text.match(/\d+/)?.[0];
  });
  expect(right.length).toBeGreaterThan(9_690);
  expect(pairBlocks(paragraphs(['One.', 'Two.', 'Three.']), long)).toHaveLength(3);
  expect(pairBlocks(long, paragraphs([]))).toEqual([]);
});

// contract.md T70
it('a refresh of an attached article writes nothing and replaces nothing: it proposes for every text', () => {
  fc.assert(
    parsedOnce(twoArticles, ({ source, version }) => {
      const { provenance, pairs } = pairSides(source, version);
      const attached = { content: version, provenance };
      const { units } = compare(source, version, provenance);
      const states = new Map(units.map(({ key, state }) => [key, state]));
      for (const { key, source: from } of units) {
        const texts = from === undefined ? [] : fieldsOf(key, from.value);
        const isPair = pairs.some((pair) => pair.source === key);
        if (isPair && texts.some(({ text }) => text !== '')) expect(states.get(key)).toBe('editedAndStale');
      }
      const isUnconfirmed = [...states.values()].includes('editedAndStale');
      const { result, plan } = refresh(source, attached);
      if (!isUnconfirmed) return;
      expect(result.content.document).toEqual(version.document);
      expect(result.content.title).toBe(version.title);
      expect(result.applied.filter((key) => !key.startsWith('image:'))).toEqual([]);
      expect(plan.steps.filter(({ key, reason }) => !key.startsWith('image:') && reason === null)).toEqual(
        [],
      );
    }),
    { numRuns: 40 },
  );
});

// contract.md T71
it('pairs that are marked are current, and a unit whose block goes to another is new again', () => {
  fc.assert(
    parsedOnce(twoArticles, fc.nat(), ({ source, version }, chosen) => {
      const { provenance, pairs } = pairSides(source, version);
      const marked = markPairs(source, version, provenance, pairs, AT);
      expect([marked.unknown, marked.displaced]).toEqual([null, []]);
      const states = new Map(
        compare(source, version, marked.provenance).units.map(({ key, state }) => [key, state]),
      );
      for (const pair of pairs) expect([pair, states.get(pair.source)]).toEqual([pair, 'current']);
      const blocks = pairs.filter((pair) => pair.source.startsWith('block:'));
      const [one, other] = [blocks[chosen % blocks.length], blocks[(chosen + 1) % blocks.length]];
      if (one === undefined || other === undefined || one === other) return;
      const swapped = { source: one.source, version: other.version };
      const after = markPairs(source, version, marked.provenance, [swapped], AT);
      expect(after.displaced).toEqual([other.source]);
      const keys = after.provenance.map(({ key }) => key);
      const order = [...new Set<UnitKey>([...marked.provenance.map(({ key }) => key)])];
      expect(keys).toEqual(order.filter((key) => key !== other.source));
      const then = new Map(
        compare(source, version, after.provenance).units.map(({ key, state }) => [key, state]),
      );
      expect([then.get(one.source), then.get(other.source)]).toEqual(['current', 'new']);
    }),
    { numRuns: 40 },
  );
});

// contract.md T71
it('a pair of which a side does not have its unit is named, and nothing is kept of it', () => {
  const [source, version] = [paragraphs(['One.']), withOwnIds(paragraphs(['Uno.']))];
  const mark = (from: UnitKey, to: UnitKey) =>
    markPairs(source, version, null, [{ source: from, version: to }], AT).unknown;
  expect(mark('block:b0', 'block:own0')).toBeNull();
  expect(mark('block:own0', 'block:own0')).toEqual({ index: 0, side: 'source' });
  expect(mark('block:b0', 'block:b0')).toEqual({ index: 0, side: 'version' });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeField } from '../../src/document/translation/field-codec.ts';
import { reassemble } from '../../src/document/translation/reassemble.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import { joinParts, MAX_PART_LENGTH, splitLong } from '../../src/document/translation/split.ts';
import { serializeTags } from '../../src/document/translation/tags.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { markdownText } from './arbitraries.ts';

const nodesOf = (text: string) => encodeField({ text, markdown: true, links: [] }).nodes;
const parts = (text: string, limit: number) =>
  splitLong(nodesOf(text), limit).map(({ nodes }) => serializeTags(nodes));

describe('a very long text', () => {
  it('is cut where sentences end, in any script, and elsewhere only when a sentence is too long itself', () => {
    expect(parts('One is here. Two is **bold. And long.** Three?\n\nFour', 46)).toEqual([
      'One is here.',
      'Two is <b id="1">bold. And long.</b> Three?',
      'Four',
    ]);
    expect(parts('「一つ。」二つ目です。三つ！', 8)).toEqual(['「一つ。」', '二つ目です。', '三つ！']);
    expect(parts('no sentence ends here at all', 12)).toEqual(['no sentence', 'ends here', 'at all']);
    expect(parts('short. text.', 4_000)).toEqual(['short. text.']);
  });

  it('gets the space between sentences that its new script wants', () => {
    const join = (...texts: [string, string][]) =>
      serializeTags(joinParts(texts.map(([text, after]) => ({ nodes: [text], after }))));
    expect(join(['Eins.', ''], ['Zwei.', ''])).toBe('Eins. Zwei.');
    expect(join(['一。', ' '], ['二。', ''])).toBe('一。二。');
    expect(join(['一。', ''], ['二。', ''])).toBe('一。二。');
    expect(join(['Eins.', '\n\n'], ['Zwei.', ''])).toBe('Eins.\n\nZwei.');
  });

  it('is whole again after splitting and joining: no character and no tag is lost', () => {
    fc.assert(
      fc.property(markdownText, fc.integer({ min: 1, max: 60 }), (text, limit) => {
        const nodes = nodesOf(text);
        const squeeze = (markup: string) => markup.replace(/\s+/g, '');
        const joined = serializeTags(joinParts(splitLong(nodes, limit)));
        expect(squeeze(joined)).toBe(squeeze(serializeTags(nodes)));
      }),
    );
  });

  it('is translated in parts that engines can take and written back as one block', () => {
    const sentence =
      'Water the *young* plants with `can` in the [morning](https://a.example/x), never at noon. ';
    const text = Array(4).fill(sentence.repeat(50).trim()).join('\n\n');
    const snapshot: Snapshot = {
      title: 'Title',
      metaTitle: null,
      metaDescription: null,
      targetKeywords: [],
      secondaryKeywords: [],
      document: { version: 1, blocks: [{ id: 'p', type: 'paragraph', text, format: 'markdown' }] },
      assets: [],
    };
    const segments = extractSegments(snapshot);
    expect(segments.length).toBeGreaterThan(4);
    for (const segment of segments) expect(segment.text.length).toBeLessThanOrEqual(MAX_PART_LENGTH);
    const translations = new Map(segments.map(({ key, text: source }) => [key, pseudoLocalize(source)]));
    const { document } = reassemble(snapshot, translations, new Map());
    const [block] = document.blocks;
    if (block?.type !== 'paragraph') throw new Error('no paragraph');
    expect(block.text.split('`can`')).toHaveLength(201);
    expect(block.text.split('](https://a.example/x)')).toHaveLength(201);
    expect(block.text).not.toContain('Water');
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { CHARACTERS_PER_WORD, countWords, textWeight } from '../../src/document/format/words.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import { parseTags, tagText } from '../../src/document/translation/tags.ts';
import { JsonText } from '../../src/json-text.ts';
import { estimateSource, freeWords } from '../../src/translations/price.ts';
import { anySnapshot } from '../document/arbitraries.ts';
import '../support/fast-check.ts';

/** All texts that go to an engine, without their tags. */
const textsSent = (source: Snapshot): string[] =>
  extractSegments(source).map(({ text }) => {
    const parsed = parseTags(text);
    if (!parsed.ok) throw new Error(parsed.problem);
    return tagText(parsed.nodes);
  });
const toWords = (weight: number) => Math.floor(weight / CHARACTERS_PER_WORD);
const sum = (texts: readonly string[], measure: (text: string) => number) =>
  texts.reduce((total, text) => total + measure(text), 0);

const wordy = fc
  .tuple(fc.nat({ max: 180 }), fc.constantFrom('word ', 'unbroken', '.?%', '字'))
  .map(([count, what]) => what.repeat(count));
const wordyBlock = fc.oneof(
  wordy.map((altText) => ({ type: 'image', assetId: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11', altText })),
  fc.array(wordy, { maxLength: 8 }).map((titles) => ({
    type: 'paragraph',
    format: 'markdown',
    text: titles.map((title) => `[**a** b](/x "${title}")`).join(' and '),
  })),
);
/** Any article, some with much more beside the body than in it. */
const anySource: fc.Arbitrary<Snapshot> = fc
  .tuple(anySnapshot, fc.array(wordyBlock, { maxLength: 8 }), fc.array(wordy, { maxLength: 4 }))
  .map(([source, blocks, keywords]) => ({
    ...source,
    targetKeywords: [...source.targetKeywords, ...keywords],
    document: {
      version: 1,
      blocks: [...source.document.blocks, ...blocks.map((block, index) => ({ id: `w${index}`, ...block }))],
    } as DocumentJson,
  }));

const bare = {
  metaTitle: null,
  metaDescription: null,
  targetKeywords: [],
  secondaryKeywords: [],
  assets: [],
};
const asText = (document: object) => new JsonText(JSON.stringify(document));

// contract.md T2
it('what an engine is sent of any article is what was priced, and no more than 200 words and a fifth beside it', async () => {
  await fc.assert(
    fc.asyncProperty(anySource, async (source) => {
      const { words, total } = await estimateSource({ ...source, document: asText(source.document) });
      const free = freeWords(toWords(countWords(source.document, textWeight)));
      const sent = textsSent(source);
      expect(toWords(sum(sent, textWeight))).toBeLessThanOrEqual(words + free);
      const characters = sum(sent, (text) => text.replace(/\s/g, '').length);
      expect(characters).toBeLessThan(CHARACTERS_PER_WORD * (words + free + 1));
      expect(words).toBeGreaterThanOrEqual(countWords(source.document));
      expect(total).toBe(Math.ceil(words / 1_000));
    }),
    { numRuns: 200 },
  );
});

it.each(['a', '.?%'])('paragraphs of %s without a space are priced by their characters', async (what) => {
  const text = what.repeat(19_000 / what.length);
  const blocks = Array.from({ length: 50 }, (_, index) => ({ id: `p${index}`, type: 'paragraph', text }));
  const document = asText({ version: 1, blocks });
  const { total } = await estimateSource({ ...bare, title: 'Beds', document });
  expect(total).toBe(24);
});

it('a body of images is not free, and an ordinary article costs what its body does', async () => {
  const image = (index: number) => ({
    id: `i${index}`,
    type: 'image',
    assetId: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11',
    altText: 'word '.repeat(200).trim(),
  });
  const images = { version: 1, blocks: Array.from({ length: 20 }, (_, index) => image(index)) };
  expect(await estimateSource({ ...bare, title: 'Beds', document: asText(images) })).toEqual({
    words: 4_001 - 200,
    total: 4,
  });
  const text = { id: 'p', type: 'paragraph', text: 'word '.repeat(1_000) };
  const ordinary = { version: 1, blocks: [text, image(1), { ...image(2), altText: 'word '.repeat(190) }] };
  expect(await estimateSource({ ...bare, title: 'Ten beds', document: asText(ordinary) })).toEqual({
    words: 1_000,
    total: 1,
  });
});

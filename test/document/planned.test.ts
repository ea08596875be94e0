import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Block } from '../../src/document/format/schema.ts';
import { planBatches, planTexts } from '../../src/document/translation/planned.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import type { AssetId } from '../../src/ids.ts';
import { imageOf } from './arbitraries.ts';

const articleOf = (blocks: Block[], beside: Partial<Snapshot> = {}): Snapshot => ({
  title: 'The garden',
  metaTitle: null,
  metaDescription: null,
  targetKeywords: [],
  secondaryKeywords: [],
  document: { version: 1, blocks },
  assets: [],
  ...beside,
});
const plan = (whole: Snapshot) => planTexts(extractSegments(whole), whole);
const heading = (id: string, level: 2 | 3, text: string): Block => ({ id, type: 'heading', level, text });

// contract.md V16
it('reads the title first, then meta texts and the cover, and an image where the body shows it', () => {
  const ids = ['1', '2', '3'].map((digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111` as AssetId);
  const assets = ids.map((id, place) => ({
    ...imageOf(id, `Picture ${'abc'.charAt(place)}`),
    role: place === 0 ? ('hero' as const) : ('inline' as const),
  }));
  const { segments } = plan(
    articleOf(
      [
        { id: 'p', type: 'paragraph', text: 'Before.' },
        { id: 'i', type: 'image', assetId: ids[2] ?? '', altText: 'Shown', caption: 'A bed' },
        { id: 'j', type: 'image', assetId: ids[2] ?? '', altText: 'Again' },
      ],
      { metaTitle: 'Gardens', targetKeywords: ['beds'], assets },
    ),
  );
  expect(segments.map(({ text }) => text)).toEqual([
    'The garden',
    'Gardens',
    'beds',
    'Picture a',
    'Picture b',
    'Before.',
    'Picture c',
    'Shown',
    'A bed',
    'Again',
  ]);
});

it('tells all headings, without their marks; of very many those of the higher level, within a fifth of the texts', () => {
  const few = plan(
    articleOf([
      { ...heading('a', 2, 'The **raised** [bed](https://garden.example)'), format: 'markdown' } as Block,
      heading('b', 3, 'Soil & <water>'),
    ]),
  );
  expect(few).toMatchObject({ title: 'The garden', outline: ['The raised bed', 'Soil & <water>'] });
  const many = articleOf(
    Array.from({ length: 2_000 }, (_, place) =>
      heading(`h${place}`, place % 50 === 0 ? 2 : 3, `Heading ${place} of the long guide`),
    ),
  );
  const { outline, segments } = plan(many);
  expect(outline).toHaveLength(40);
  expect(outline[1]).toBe('Heading 50 of the long guide');
  const long = plan(
    articleOf(
      Array.from({ length: 2_000 }, (_, place) => heading(`h${place}`, 2, `${place} ${'long '.repeat(60)}`)),
    ),
  );
  expect(JSON.stringify(long.outline).length).toBeLessThanOrEqual(6_000);
  expect(Math.max(...long.outline.map((text) => text.length))).toBeLessThanOrEqual(120);
  const sent = segments.reduce((sum, { text }) => sum + text.length, 0);
  expect(JSON.stringify(outline).length).toBeLessThan(sent / 5);
});

it('tells the end of the text before and the beginning of the text behind, without tags, cut at a word', () => {
  const words = Array.from({ length: 100 }, (_, place) => `word${place}`).join(' ');
  const { segments } = plan(
    articleOf([
      { id: 'a', type: 'paragraph', text: words },
      { id: 'b', type: 'paragraph', text: 'Between.' },
      { id: 'c', type: 'paragraph', format: 'markdown', text: `**${words}**` },
      { id: 'd', type: 'paragraph', text: '春'.repeat(900) },
      { id: 'e', type: 'paragraph', text: 'End.' },
    ]),
  );
  const between = segments.find(({ text }) => text === 'Between.');
  expect(between?.before).toMatch(/^word\d+ .* word99$/);
  expect(between?.after).toMatch(/^word0 .* word\d+$/);
  expect(segments[0]?.before).toBe('');
  expect(segments.at(-1)).toMatchObject({ before: '春'.repeat(200), after: '' });
  for (const { before, after } of segments) {
    expect(before.length).toBeLessThanOrEqual(200);
    expect(after.length).toBeLessThanOrEqual(200);
  }
});

it('fills batches in order up to their bounds', () => {
  const texts = fc.array(fc.integer({ min: 0, max: 60 }).map((words) => ({ words })));
  fc.assert(
    fc.property(
      texts,
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 5 }),
      (segments, maxWords, maxSegments) => {
        const batches = planBatches(segments, { maxWords, maxSegments });
        expect(batches.flat()).toEqual(segments);
        for (const batch of batches) {
          expect(batch.length).toBeLessThanOrEqual(maxSegments);
          const words = batch.reduce((sum, segment) => sum + segment.words, 0);
          if (batch.length > 1) expect(words).toBeLessThanOrEqual(maxWords);
        }
      },
    ),
  );
});

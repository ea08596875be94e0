import { expect, it } from 'vitest';
import type { Block } from '../../src/document/format/schema.ts';
import { reassemble } from '../../src/document/translation/reassemble.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import { NOTHING, refresh, translateNew } from './versions.ts';

const table = (price: string): Block => ({
  id: 'prices',
  type: 'table',
  header: ['Plan', '2025'],
  rows: [
    ['Garden', price],
    ['—', '1.2.3'],
  ],
});
const source = (price: string): Snapshot => ({
  ...NOTHING,
  title: 'Prices',
  document: { version: 1, blocks: [table(price), { id: 'alone', type: 'paragraph', text: '3/4/2025' }] },
});
const languages = { sourceLanguage: 'en', targetLanguage: 'de' };
const sent = (pair: typeof languages | null) =>
  extractSegments(source('$1,234.56'), undefined, pair).map(({ text }) => text);

// contract.md V40
it('figures in cells and alone are sent where the languages write them differently, and written back', () => {
  expect(sent(null)).toEqual(['Prices', 'Plan', 'Garden']);
  expect(sent({ sourceLanguage: 'en', targetLanguage: 'ja' })).toEqual([
    'Prices',
    'Plan',
    'Garden',
    '3/4/2025',
  ]);
  expect(sent(languages)).toEqual(['Prices', 'Plan', 'Garden', '$1,234.56', '3/4/2025']);
  const german = ['Preise', 'Tarif', 'Garten', '1.234,56 $', '4.3.2025'];
  const segments = extractSegments(source('$1,234.56'), undefined, languages);
  const made = reassemble(
    source('$1,234.56'),
    new Map(segments.map(({ key }, place) => [key, german[place] ?? ''])),
    new Map(),
  );
  expect(made.document.blocks).toMatchObject([
    {
      header: ['Tarif', '2025'],
      rows: [
        ['Garten', '1.234,56 $'],
        ['—', '1.2.3'],
      ],
    },
    { text: '4.3.2025' },
  ]);
});

// contract.md V40
it('a refresh sends and charges a changed figure', () => {
  const version = translateNew(source('$1,234.56'));
  const { plan, segments } = refresh(source('$2,345.67'), version, { languages });
  expect(segments.map(({ text }) => text)).toEqual(['$2,345.67']);
  expect(plan).toMatchObject({ sent: 1 });
  expect(plan.weight).toBeGreaterThan(0);
  expect(refresh(source('$2,345.67'), version).segments).toEqual([]);
});

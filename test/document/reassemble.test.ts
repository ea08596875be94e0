import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseDocument } from '../../src/document/format/parse.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { checkStructure } from '../../src/document/translation/checks/structure.ts';
import { reassemble } from '../../src/document/translation/reassemble.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import type { AssetId } from '../../src/ids.ts';
import { anySnapshot, imageOf } from './arbitraries.ts';

const NO_IDS = new Map<string, AssetId>();

it('reads the words of a link back from its tag and points it to the target version', async () => {
  const articleId = '11111111-1111-4111-8111-111111111111';
  const assetId = '22222222-2222-4222-8222-222222222222';
  const snapshot: Snapshot = {
    title: 'Coffee',
    metaTitle: 'word '.repeat(30),
    metaDescription: null,
    targetKeywords: ['coffee beans'],
    secondaryKeywords: [],
    document: {
      version: 1,
      blocks: [
        {
          id: 'p',
          type: 'paragraph',
          text: 'Read our brewing guide first.',
          links: [{ text: 'brewing guide', articleId }],
        },
        {
          id: 'm',
          type: 'paragraph',
          text: 'Use **`grind --fine`** [here](https://a.example "The manual").',
          format: 'markdown',
        },
        { id: 'i', type: 'image', assetId, altText: 'A cup', caption: 'Hot & fresh' },
        { id: 'c', type: 'code', text: 'const coffee = 1;' },
        { id: 'd', type: 'paragraph', text: '— 42 —' },
      ],
    },
    assets: [imageOf(assetId, 'A cup of coffee')],
  };
  expect(extractSegments(snapshot).map(({ key, text }) => [key, text])).toEqual([
    ['title', 'Coffee'],
    ['metaTitle', 'word '.repeat(30).trim()],
    ['targetKeyword.0', 'coffee beans'],
    ['block.0.text', 'Read our <a id="1">brewing guide</a> first.'],
    ['block.1.text', 'Use <b id="1"><x id="2"/></b> <a id="3">here</a>.'],
    ['block.1.text.title.3', 'The manual'],
    ['asset.0.alt', 'A cup of coffee'],
    ['block.2.alt', 'A cup'],
    ['block.2.caption', 'Hot &amp; fresh'],
  ]);
  const answers: Record<string, string> = {
    title: 'Kaffee\n',
    metaTitle: 'Wörter und '.repeat(20),
    'targetKeyword.0': 'Kaffeebohnen',
    'asset.0.alt': 'Eine Tasse Kaffee',
    'block.0.text': 'Lies zuerst unsere <a id="1">Anleitung zum Brühen</a>.',
    'block.1.text': 'Nimm <a id="3">hier</a> <b id="1"><x id="2"/></b>.',
    'block.1.text.title.3': 'Das "Handbuch"',
    'block.2.alt': 'Eine Tasse',
    'block.2.caption': 'Heiß &amp; frisch',
  };
  const copy = '44444444-4444-4444-8444-444444444444' as AssetId;
  const result = reassemble(snapshot, new Map(Object.entries(answers)), new Map([[assetId, copy]]));
  expect(result).toEqual({
    title: 'Kaffee',
    metaTitle: 'Wörter und Wörter und Wörter und Wörter und Wörter und Wörter und',
    metaDescription: null,
    targetKeywords: ['Kaffeebohnen'],
    secondaryKeywords: [],
    document: {
      version: 1,
      blocks: [
        {
          id: 'p',
          type: 'paragraph',
          text: 'Lies zuerst unsere Anleitung zum Brühen.',
          links: [{ text: 'Anleitung zum Brühen', articleId }],
        },
        {
          id: 'm',
          type: 'paragraph',
          text: 'Nimm [hier](https://a.example "Das \\"Handbuch\\"") **`grind --fine`**.',
          format: 'markdown',
        },
        { id: 'i', type: 'image', assetId: copy, altText: 'Eine Tasse', caption: 'Heiß & frisch' },
        { id: 'c', type: 'code', text: 'const coffee = 1;' },
        { id: 'd', type: 'paragraph', text: '— 42 —' },
      ],
    },
    altTexts: new Map([[assetId, 'Eine Tasse Kaffee']]),
    overlong: new Set(),
  });
});

// contract.md T21 and V38
it('writes back every answer that was accepted, whatever a valid document holds and however it has grown', () => {
  const few = (paragraph: string, times: number) => Array(times).fill(paragraph).join('\n\n');
  const heavy = fc.constantFrom(
    few('a_b '.repeat(498), 3),
    few(`Go ${'*a* '.repeat(60)}${'b_c '.repeat(200)}`, 4),
    few('line of words\n'.repeat(300), 4),
    few('[go](https://a.example/x_y "T") '.repeat(100), 3),
    few('`code_a*b` and &amp; more '.repeat(60), 8),
    'Wow! '.repeat(480),
    '&amp; no '.repeat(400),
    'x'.repeat(20_000),
  );
  const code = { id: 'c', type: 'code' as const, text: '`'.repeat(100_000) };
  const grown = fc.constantFrom<(text: string) => string>(
    (text) => `${text} Hola! Vale! Sí!`,
    (text) => text.replaceAll(/\s*\n\s*/g, ' '),
    (text) => text.replaceAll(/ (?![^<>]*>)/g, '\n'),
    (text) => text.replaceAll(/ (?![^<>]*>)/g, ' !*_[&amp;'),
    (text) => `${text}${'*'.repeat(text.length * 3)}`,
    (text) => `${text} ${'a_b! '.repeat(text.length)}`,
    (text) => text + '\n\n*_'.repeat(text.length),
  );
  fc.assert(
    fc.property(
      anySnapshot,
      fc.array(heavy, { minLength: 1, maxLength: 1 }),
      fc.array(grown, { minLength: 1, maxLength: 2 }),
      (snapshot, texts, answers) => {
        const paragraphs = texts.map((text, index) => ({
          id: `heavy${index}`,
          type: 'paragraph' as const,
          format: 'markdown' as const,
          text,
        }));
        const document = {
          version: 1 as const,
          blocks: [...snapshot.document.blocks, ...paragraphs, code],
        };
        expect(parseDocument(document)).toMatchObject({ ok: true });
        const source = { ...snapshot, document };
        const translations = new Map<string, string>();
        for (const [index, { key, text }] of extractSegments(source).entries()) {
          const answer = answers[index % answers.length]?.(text) ?? text;
          const hard = checkStructure(text, answer).length > 0;
          translations.set(key, hard ? text : answer);
        }
        const result = reassemble(source, translations, NO_IDS);
        expect(result.document.blocks).toHaveLength(document.blocks.length);
        expect(result.document.blocks.at(-1)).toEqual(code);
        // As a client sends it.
        expect(parseDocument(result.document)).toEqual({ ok: true, document: result.document });
      },
    ),
    { numRuns: 12 },
  );
}, 60_000);

it('writes back what was stored when texts had no bounds', () => {
  const text = 'a line of words\n'.repeat(1_200).trim();
  const blocks: DocumentJson['blocks'] = [
    { id: 'p', type: 'paragraph', format: 'markdown', text },
    { id: 'l', type: 'paragraph', format: 'markdown', text: 'long '.repeat(30_000).trim() },
    { id: 'c', type: 'code', text: 'x'.repeat(150_000) },
  ];
  const rest = {
    title: 'T',
    metaTitle: null,
    metaDescription: null,
    targetKeywords: [],
    secondaryKeywords: [],
  };
  const source: Snapshot = { ...rest, document: { version: 1, blocks }, assets: [] };
  const answers = extractSegments(source).map(({ key, text }) => [key, text.toUpperCase()] as const);
  const { document } = reassemble(source, new Map(answers), NO_IDS);
  expect(document.blocks.map((block) => ('text' in block ? block.text.length : 0))).toEqual(
    blocks.map((block) => ('text' in block ? block.text.length : 0)),
  );
});

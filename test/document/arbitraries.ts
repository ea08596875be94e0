/** Random valid documents, rich in what breaks translators: marks, links, code, addresses, CJK, awkward characters. */
import fc from 'fast-check';
import type { Block, DocumentJson } from '../../src/document/format/schema.ts';
import type { Snapshot, SourceAsset } from '../../src/document/translation/source.ts';
import type { AssetId } from '../../src/ids.ts';

const word = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('alpha', 'Beta', 'naïve', '2024', 'snake_case', 'x', 'C++') },
  {
    weight: 3,
    arbitrary: fc.constantFrom('テスト。', '「強調」', '次の文', '漢字', '마크다운(Markdown)', '을'),
  },
  { weight: 2, arbitrary: fc.constantFrom('مرحبا', 'שלום', 'สวัสดี', '👩‍👩‍👧', '😀', 'é') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'https://a.example/p_(q)?r=1&s=2',
      'me@mail.example',
      '{{name}}',
      'www.a.example',
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '*',
      '**',
      '_',
      '`',
      '[',
      ']',
      '](',
      '<b>',
      '</b>',
      '&amp;',
      '&',
      '<',
      '>',
      '\\',
      '!',
      '#',
      '- ',
      '1.',
      '|',
      '~~',
      '—',
      '\u0001',
      '\u00a0',
      '\u3000',
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }).filter(isStorable) },
);
const gap = fc.constantFrom(' ', ' ', ' ', '', '', '\n', '\n\n', '  ');

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Plain text. */
export const plainText = fc
  .array(fc.tuple(word, gap), { maxLength: 8 })
  .map((parts) => parts.map(([text, space]) => text + space).join(''));

const url = fc.constantFrom(
  'https://a.example/x?y=1&z=2#f',
  'http://b.example/Foo_(bar)',
  '/relative/path',
  'mailto:me@mail.example',
  '#anchor',
  'https://c.example/*_a_*',
);
const escaped = word.map((text) => text.replace(/[\\`*_{}[\]<>()#+\-.!|&~]/g, '\\$&').replace(/\s/g, ' '));

/** A `markdown` text field, well formed or full of stray delimiters, within the format. */
export const markdownText: fc.Arbitrary<string> = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 4, arbitrary: escaped },
        { weight: 2, arbitrary: escaped.map((text) => `**${text}**`) },
        { weight: 2, arbitrary: escaped.map((text) => `*${text}*`) },
        { weight: 1, arbitrary: escaped.map((text) => `***${text}** tail*`) },
        {
          weight: 2,
          arbitrary: fc.constantFrom('`code_x*`', '`` a`b ``', '<https://d.example/p>', '&copy;', '&#x41;'),
        },
        { weight: 2, arbitrary: fc.tuple(escaped, url).map(([text, to]) => `[${text}](${to})`) },
        {
          weight: 1,
          arbitrary: fc.tuple(escaped, url).map(([text, to]) => `**[${text} \`c\`](${to} "a title")**`),
        },
        { weight: 2, arbitrary: word },
      ),
      gap,
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.map(([text, space]) => text + space).join(''))
  .filter((text) => !/\]\(\s*[a-z]+:/i.test(text.replaceAll(/\]\((?:https?|mailto):/g, '')));

const uuid = fc.uuid();
const formatted = <T>(build: (text: fc.Arbitrary<string>) => fc.Arbitrary<T>) =>
  fc.oneof(
    build(plainText),
    build(markdownText).map((fields) => ({ ...fields, format: 'markdown' as const })),
  );

const linked = (text: string): fc.Arbitrary<{ text: string; articleId: string }[]> =>
  fc.array(
    fc.tuple(fc.nat(), fc.integer({ min: 1, max: 12 }), uuid).map(([at, length, articleId]) => {
      const characters = [...text];
      const start = characters.length === 0 ? 0 : at % characters.length;
      return { text: characters.slice(start, start + length).join('') || 'gone words', articleId };
    }),
    { maxLength: 4 },
  );

const withLinks = fc.oneof(
  plainText.chain((text) => linked(text).map((links) => ({ text, links }))),
  plainText.map((text) => ({ text })),
  markdownText.map((text) => ({ text, format: 'markdown' as const })),
);

interface AnyList {
  ordered: boolean;
  items: string[];
  children?: (AnyList | null)[];
}

function anyList(text: fc.Arbitrary<string>, levels: number): fc.Arbitrary<AnyList> {
  return fc.tuple(fc.boolean(), fc.array(text, { minLength: 1, maxLength: 3 })).chain(([ordered, items]) => {
    if (levels === 1) return fc.constant({ ordered, items });
    const child = fc.option(anyList(text, levels - 1), { freq: 3 });
    return fc
      .option(fc.array(child, { minLength: items.length, maxLength: items.length }), { freq: 2 })
      .map((children): AnyList => (children === null ? { ordered, items } : { ordered, items, children }));
  });
}

const cells = (text: fc.Arbitrary<string>) =>
  fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat({ max: 3 })).chain(([columns, rows]) => {
    const row = fc.array(text, { minLength: columns, maxLength: columns });
    const align = fc.array(fc.constantFrom('left' as const, 'center' as const, 'right' as const, null), {
      minLength: columns,
      maxLength: columns,
    });
    return fc.record(
      { header: row, rows: fc.array(row, { minLength: rows, maxLength: rows }), align },
      { requiredKeys: ['header', 'rows'] },
    );
  });

const body: fc.Arbitrary<Omit<Block, 'id'>> = fc.oneof(
  formatted((text) =>
    fc.record({ type: fc.constant('heading' as const), level: fc.integer({ min: 1, max: 6 }), text }),
  ),
  withLinks.map((fields) => ({ type: 'paragraph' as const, ...fields })),
  fc.tuple(withLinks, fc.option(plainText)).map(([fields, attribution]) => ({
    type: 'quote' as const,
    ...fields,
    ...(attribution === null ? {} : { attribution }),
  })),
  formatted((text) => anyList(text, 4)).map((fields) => ({ type: 'list' as const, ...fields })),
  formatted(cells).map((fields) => ({ type: 'table' as const, ...fields })),
  fc.record(
    { type: fc.constant('image' as const), assetId: uuid, altText: plainText, caption: plainText },
    { requiredKeys: ['type', 'assetId', 'altText'] },
  ),
  fc.record(
    {
      type: fc.constant('code' as const),
      text: plainText,
      language: fc.constantFrom('ts', 'c++', 'x" onload="y'),
    },
    { requiredKeys: ['type', 'text'] },
  ),
  fc.constant({ type: 'divider' as const }),
);

const withId = (block: Omit<Block, 'id'>, index: number): Block => ({ id: `id-${index}`, ...block }) as Block;

export const anyBlock: fc.Arbitrary<Block> = body.map((block) => withId(block, 0));

/** Any valid document. */
export const anyDocument: fc.Arbitrary<DocumentJson> = fc
  .array(body, { maxLength: 6 })
  .map((blocks) => ({ version: 1, blocks: blocks.map(withId) }));

/** An image of a snapshot; a translation changes nothing but what is given here. */
export const imageOf = (id: string, altText: string): SourceAsset => ({
  id: id as AssetId,
  altText,
  role: 'inline',
  contentHash: '0'.repeat(64),
  mediaType: 'image/png',
  byteSize: 1,
  fileName: 'image.png',
  width: 3,
  height: 2,
  previewHash: null,
  thumbnailHash: '1'.repeat(64),
  variantBytes: 1,
  prompt: null,
});

/** Any snapshot of an article with such a document. */
export const snapshotOf = (document: fc.Arbitrary<DocumentJson>): fc.Arbitrary<Snapshot> =>
  fc.record({
    title: plainText,
    metaTitle: fc.option(fc.oneof(plainText, fc.constant('many words of a title '.repeat(10)))),
    metaDescription: fc.option(plainText),
    targetKeywords: fc.array(plainText, { maxLength: 2 }),
    secondaryKeywords: fc.array(plainText, { maxLength: 2 }),
    document,
    assets: fc
      .array(fc.tuple(uuid, plainText), { maxLength: 2 })
      .map((some) => some.map((each) => imageOf(...each))),
  });

/** Any snapshot of an article. */
export const anySnapshot = snapshotOf(anyDocument);

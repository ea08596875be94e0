import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument, STORED_BOUNDS } from '../../src/document/format/parse.ts';
import { countTextWords, countWords } from '../../src/document/format/words.ts';
import { anyDocument } from './arbitraries.ts';

const UUID = '0f0f0f0f-0000-0000-0000-000000000001';

function issues(...blocks: unknown[]) {
  const result = parseDocument({ version: 1, blocks });
  return result.ok ? [] : result.issues;
}

const nested = (levels: number): unknown =>
  levels === 1
    ? { ordered: false, items: ['leaf'], children: [null] }
    : { ordered: true, items: ['branch'], children: [nested(levels - 1)] };

describe('the document format', () => {
  it('accepts any valid document unchanged', () => {
    fc.assert(
      fc.property(anyDocument, (document) => {
        expect(parseDocument(document)).toEqual({ ok: true, document });
        expect(parseDocument(JSON.parse(JSON.stringify(document)))).toEqual({ ok: true, document });
      }),
      { numRuns: 250 },
    );
  });

  it('drops unknown fields and takes null for an absent optional field', () => {
    const given = { id: 'a', type: 'paragraph', text: 'x', links: null, format: null, colour: 'red' };
    const result = parseDocument({ version: 1, blocks: [given], extra: true });
    expect(result).toStrictEqual({
      ok: true,
      document: { version: 1, blocks: [{ id: 'a', type: 'paragraph', text: 'x' }] },
    });
  });

  it('bounds the links of a document that is sent, not of one that is stored', () => {
    const links = Array.from({ length: 20 }, () => ({ text: 'x', articleId: UUID }));
    const block = (_: unknown, index: number) => ({ id: `${index}`, type: 'paragraph', text: 'x', links });
    const blocks = Array.from({ length: 51 }, block);
    const inMarkdown = { ...blocks[0], id: 'm', format: 'markdown' };
    expect(issues(inMarkdown, ...blocks.slice(1))).toEqual([]);
    expect(issues(...blocks)).toEqual([
      { pointer: '/blocks/50/links', blockId: '50', message: expect.stringMatching(/more than 1000 links/) },
    ]);
    expect(parseDocument({ version: 1, blocks }, STORED_BOUNDS).ok).toBe(true);
  });

  it('counts characters as code points', () => {
    expect(issues({ id: '😀'.repeat(64), type: 'divider' })).toEqual([]);
    expect(issues({ id: '😀'.repeat(65), type: 'divider' })).toHaveLength(1);
    expect(issues({ id: 'a', type: 'code', text: '', language: '𝒳'.repeat(40) })).toEqual([]);
  });

  // contract.md F6
  it('takes lists of four levels and names the block of a fifth', () => {
    const list = (levels: number) => ({ id: 'list', type: 'list', ...(nested(levels) as object) });
    expect(issues(list(4))).toEqual([]);
    expect(issues(list(5))).toEqual([
      {
        pointer: '/blocks/0/children/0/children/0/children/0/children/0',
        blockId: 'list',
        message: 'lists can be nested 4 levels deep at most',
      },
    ]);
  });

  const link = (text: unknown, articleId: unknown = UUID) => ({ text, articleId });
  const paragraph = (fields: object) => ({ id: 'bad', type: 'paragraph', text: 'x', ...fields });
  const table = (fields: object) => ({ id: 'bad', type: 'table', header: ['a', 'b'], rows: [], ...fields });
  const list = (fields: object) => ({ id: 'bad', type: 'list', ordered: false, items: ['a'], ...fields });
  const BROKEN: [string, object, string, RegExp][] = [
    ['an empty id', { id: '', type: 'divider' }, '/id', /1 to 64 characters/],
    ['an unknown type', { id: 'bad', type: 'video' }, '/type', /./],
    ['a heading of level 7', { id: 'bad', type: 'heading', level: 7, text: '' }, '/level', /6/],
    ['a heading of level 1.5', { id: 'bad', type: 'heading', level: 1.5, text: '' }, '/level', /int/],
    ['a heading without text', { id: 'bad', type: 'heading', level: 1 }, '/text', /string/],
    ['another format', paragraph({ format: 'html' }), '/format', /markdown/],
    ['21 links', paragraph({ links: Array.from({ length: 21 }, () => link('x')) }), '/links', /at most 20/],
    ['a link without words', paragraph({ links: [link('')] }), '/links/0/text', /1 to 200/],
    ['a link of 201 characters', paragraph({ links: [link('x'.repeat(201))] }), '/links/0/text', /1 to 200/],
    ['a link to no uuid', paragraph({ links: [link('x', 'abc')] }), '/links/0/articleId', /./],
    [
      'a link with another scheme',
      paragraph({ text: '[x](javascript:y)', format: 'markdown' }),
      '/text',
      /http/,
    ],
    ['a NUL character', paragraph({ text: 'a\0b' }), '/text', /NUL/],
    ['a lone surrogate', paragraph({ text: 'a\ud800b' }), '/text', /surrogate/],
    ['no ordered', { id: 'bad', type: 'list', items: [] }, '/ordered', /boolean/],
    [
      'children of another count',
      list({ children: [null, null] }),
      '/children',
      /one entry per item: 1, not 2/,
    ],
    [
      'an empty sub-list',
      list({ children: [{ ordered: true, items: [] }] }),
      '/children/0/items',
      /at least one item/,
    ],
    [
      'a sub-list with children of another count',
      list({ children: [{ ordered: true, items: ['a', 'b'], children: [null] }] }),
      '/children/0/children',
      /2, not 1/,
    ],
    [
      'a bad link in a nested item',
      list({ children: [{ ordered: true, items: ['[x](data:y)'] }], format: 'markdown' }),
      '/children/0/items/0',
      /http/,
    ],
    ['an image without a uuid', { id: 'bad', type: 'image', assetId: 'x', altText: '' }, '/assetId', /./],
    ['an image without altText', { id: 'bad', type: 'image', assetId: UUID }, '/altText', /string/],
    [
      'a code language of 41',
      { id: 'bad', type: 'code', text: '', language: 'x'.repeat(41) },
      '/language',
      /40/,
    ],
    ['no header cell', table({ header: [], rows: [] }), '/header', /at least one header cell/],
    ['a short row', table({ rows: [['a', 'b'], ['a']] }), '/rows/1', /2, not 1/],
    ['a long align', table({ align: ['left', null, 'right'] }), '/align', /2, not 3/],
    ['a text of 20,001', paragraph({ text: 'x'.repeat(20_001) }), '/text', /20000/],
    ['code of 100,001', { id: 'bad', type: 'code', text: 'x'.repeat(100_001) }, '/text', /100000/],
    [
      'an altText of 1,001',
      { id: 'bad', type: 'image', assetId: UUID, altText: 'x'.repeat(1_001) },
      '/altText',
      /1000/,
    ],
    [
      'too many marks',
      paragraph({ text: '['.repeat(501), format: 'markdown' }),
      '/text',
      /500 Markdown marks/,
    ],
    [
      'too long a link title',
      paragraph({ text: `[a](b "${'t'.repeat(201)}")`, format: 'markdown' }),
      '/text',
      /title/,
    ],
    ['2,001 items', list({ items: Array(2_001).fill('') }), '/items', /2000/],
    ['5,001 rows', table({ rows: Array(5_001).fill(['', '']) }), '/rows', /5000/],
    ['101 columns', table({ header: Array(101).fill('') }), '/header', /100/],
    ['another align', table({ align: ['left', 'justify'] }), '/align/1', /./],
    [
      'a bad link in a cell',
      table({ rows: [['a', '[x](ftp://y)']], format: 'markdown' }),
      '/rows/0/1',
      /http/,
    ],
  ];

  // contract.md F1, F7 and F17
  it.each(BROKEN)('refuses %s, naming the block and the rule', (_, block, pointer, message) => {
    const found = issues({ id: 'good', type: 'divider' }, block);
    expect(found[0]?.pointer).toBe(`/blocks/1${pointer}`);
    expect(found[0]?.message).toMatch(message);
    expect(found[0]?.blockId).toBe(Reflect.get(block, 'id'));
  });

  it('refuses a second block of the same id, another version and anything that is no document', () => {
    const twice = issues({ id: 'a', type: 'divider' }, { id: 'a', type: 'divider' });
    expect(twice).toEqual([
      { pointer: '/blocks/1/id', blockId: 'a', message: expect.stringMatching(/unique/) },
    ]);
    for (const value of [
      null,
      1,
      'x',
      [],
      {},
      { version: 2, blocks: [] },
      { version: 1, blocks: {} },
      { version: 1, blocks: [null] },
    ]) {
      expect(parseDocument(value).ok).toBe(false);
    }
  });
});

describe('counting words', () => {
  // contract.md R4
  it('counts the text as shown, without code, alt texts, syntax and link targets', () => {
    const blocks = [
      { id: '1', type: 'heading', level: 2, text: 'Two words' },
      {
        id: '2',
        type: 'paragraph',
        text: '**un**believable `inline code` [link text](https://a.example/b "t")',
        format: 'markdown',
      },
      { id: '3', type: 'paragraph', text: '**plain stars**' },
      {
        id: '4',
        type: 'list',
        ordered: true,
        items: ['one', 'two three'],
        children: [null, { ordered: false, items: ['four'] }],
      },
      { id: '5', type: 'quote', text: 'a quote', attribution: 'An Author' },
      { id: '6', type: 'table', header: ['h1', 'h2'], rows: [['c1', '—']] },
      { id: '7', type: 'image', assetId: UUID, altText: 'not counted', caption: 'A caption' },
      { id: '8', type: 'code', text: 'not counted either' },
      { id: '9', type: 'divider' },
    ];
    const result = parseDocument({ version: 1, blocks });
    if (!result.ok) throw new Error('fixture is not valid');
    expect(countWords(result.document)).toBe(2 + 5 + 2 + 4 + 4 + 3 + 2);
  });

  it('counts words of scripts without spaces', () => {
    const count = (text: string) =>
      countWords({ version: 1, blocks: [{ id: 'a', type: 'paragraph', text }] });
    expect(count('これは日本語の文章です。')).toBeGreaterThan(3);
    expect(count('สวัสดีชาวโลก')).toBeGreaterThan(1);
    expect(count('...  — !')).toBe(0);
  });

  it('counts letters and digits without a break as the one word that they are in Unicode', () => {
    const unicode = new Intl.Segmenter('en', { granularity: 'word' });
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9]{1,40}$/), (text) => {
        const words = [...unicode.segment(text)].filter(({ isWordLike }) => isWordLike);
        expect(countTextWords(text)).toBe(words.length);
      }),
    );
  });

  // contract.md F10
  it('takes texts, code and lists of the greatest size', () => {
    expect(
      issues(
        { id: 'a', type: 'paragraph', text: '😀'.repeat(20_000) },
        { id: 'b', type: 'code', text: 'x'.repeat(100_000) },
        { id: 'c', type: 'list', ordered: true, items: Array(2_000).fill('x') },
        { id: 'd', type: 'paragraph', text: '[a](b) '.repeat(250), format: 'markdown' },
      ),
    ).toEqual([]);
  });

  it('words fifty broken rules and counts the others, and takes 10,000 blocks', () => {
    const broken = parseDocument({ version: 1, blocks: Array(9_000).fill(0) });
    expect(broken).toMatchObject({ ok: false, omitted: 8_950 });
    expect(broken.ok ? 0 : broken.issues.length).toBe(50);
    const dividers = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ id: `${index}`, type: 'divider' }));
    expect(issues(...dividers(10_000))).toEqual([]);
    expect(issues(...dividers(10_001))[0]).toMatchObject({ pointer: '/blocks', blockId: null });
  });

  it('bounds the marks of all texts together', () => {
    const marked = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        id: `${index}`,
        type: 'paragraph',
        text: '<'.repeat(500),
        format: 'markdown',
      }));
    expect(issues(...marked(100))).toEqual([]);
    expect(issues(...marked(101))).toEqual([
      { pointer: '/blocks/100/text', blockId: '100', message: expect.stringMatching(/50000 Markdown marks/) },
    ]);
  });
});

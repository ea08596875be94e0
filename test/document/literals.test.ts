import { describe, expect, it } from 'vitest';
import { findLiterals } from '../../src/document/text/literals.ts';
import { placeholdersOf } from '../../src/document/translation/planned.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';

const kept = (text: string): string[] => findLiterals(text).map(({ start, end }) => text.slice(start, end));

// contract.md V36
describe('an address ends where the prose goes on', () => {
  it.each([
    ['请访问https://example.com了解更多信息。', ['https://example.com']],
    ['请访问 https://example.com/了解更多信息。', ['https://example.com/']],
    ['请看https://example.com.了解', ['https://example.com']],
    ['看https://a.example和https://b.example/x，然后', ['https://a.example', 'https://b.example/x']],
    ['https://user@a.example:8080に接続', ['https://user@a.example:8080']],
    ['メールはme@a.exampleまで', ['me@a.example']],
    ['자세한 내용은 https://example.com/page에서 확인', ['https://example.com/page']],
    ['ดูที่https://example.comเพื่อ', ['https://example.com']],
    ['请访问www.example.com了解', ['www.example.com']],
    [
      'See www.a.example, or (https://a.example/Foo_(bar)).',
      ['www.a.example', 'https://a.example/Foo_(bar)'],
    ],
  ])('%s', (text, addresses) => {
    expect(kept(text)).toEqual(addresses);
  });

  it.each([
    ['https://例え.jp/パス', ['https://例え.jp/パス']],
    ['詳細はhttps://例え.jpを見る', ['https://例え.jp']],
    ['https://example.中国', ['https://example.中国']],
    ['见 https://JR東日本.jp 。', ['https://JR東日本.jp']],
    ['参见 https://ja.wikipedia.org/wiki/日本。', ['https://ja.wikipedia.org/wiki/日本']],
    ['https://ko.wikipedia.org/wiki/한국 참조', ['https://ko.wikipedia.org/wiki/한국']],
    ['https://münchen.example/straße, ok', ['https://münchen.example/straße']],
    ['https://пример.рф/путь.', ['https://пример.рф/путь']],
  ])('and keeps the letters of its own: %s', (text, addresses) => {
    expect(kept(text)).toEqual(addresses);
  });

  it.each(['awww.that is', 'ftp and www. alone', 'https://について', 'www.了解'])(
    'no address: %s',
    (text) => {
      expect(kept(text)).toEqual([]);
    },
  );

  it('in time that grows with the text, however many there are and whatever stands between them', () => {
    const began = performance.now();
    for (const text of [
      'https://a.b漢'.repeat(2_000),
      `https://a/${'漢a'.repeat(9_000)}`,
      '{a,plural,'.repeat(2_000),
    ])
      kept(text);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

// contract.md V35
describe('what software replaces or expands is kept', () => {
  it.each([
    ['Hi {name}, {0} of {user.name}, {list[0]}', ['{name}', '{0}', '{user.name}', '{list[0]}']],
    [
      `{{x}}, {{{raw}}}, \${y}, %{z}, {price:.2f}, {}`,
      ['{{x}}', '{{{raw}}}', `\${y}`, '%{z}', '{price:.2f}', '{}'],
    ],
    ['%d of %s, %1$s, %2$d, %.2f, %05d, %ld, %@', ['%d', '%s', '%1$s', '%2$d', '%.2f', '%05d', '%ld', '%@']],
    ['第%d章、%(name)sさん', ['%d', '%(name)s']],
    [
      'You have {count, plural, one {# item} other {# items}} until {day, date}.',
      ['{count, plural, one {# item} other {# items}}', '{day, date}'],
    ],
    ['[gallery ids="1,2" columns=3] [more /]', ['[gallery ids="1,2" columns=3]', '[more /]']],
    ['[caption wide]A cup[/caption] [b]hot[/b]', ['[caption wide]', '[/caption]', '[b]', '[/b]']],
    ['Write &amp; or &#39; in HTML', ['&amp;', '&#39;']],
  ])('%s', (text, literals) => {
    expect(kept(text)).toEqual(literals);
  });

  it.each([
    '50% de los casos',
    '50%d, 100%sicher',
    '25 %d’eau, 50 %discount',
    'file%20dir',
    '5 % and 10 %',
    '[1] [sic] [see note] [p=0.03] [Note 3]',
    '{see note} {a, b} {1, 2, 3} { }',
    'AT&T; R&D & more',
    'a { b } c, x[i]',
  ])('prose stays prose: %s', (text) => {
    expect(kept(text)).toEqual([]);
  });
});

const article = (text: string): Snapshot => ({
  title: 'A guide',
  metaTitle: null,
  metaDescription: null,
  targetKeywords: [],
  secondaryKeywords: [],
  document: { version: 1, blocks: [{ id: 'p', type: 'paragraph', format: 'markdown', text }] },
  assets: [],
});

// contract.md V35
describe('a text knows what its empty tags stand for', () => {
  it('as far as a translation depends on it: code and placeholders, no addresses', () => {
    const text = 'Run `npm ci` for **{count}** of https://a.example, then `x`';
    expect(extractSegments(article(text)).at(-1)).toEqual({
      key: 'block.0.text',
      kind: 'paragraph',
      text: 'Run <x id="1"/> for <b id="2"><x id="3"/></b> of <x id="4"/>, then <x id="5"/>',
      placeholders: { 1: 'npm ci', 3: '{count}', 5: 'x' },
    });
    expect(extractSegments(article('No tags.')).at(-1)).not.toHaveProperty('placeholders');
  });

  it('in part, where it is long, and no more than a share of a request', () => {
    const words = 'Some words of an article that somebody reads. ';
    const segments = Array.from({ length: 30 }, (_, place) => {
      const code = `\`${`command${place} --with-options `.repeat(place % 3 === 0 ? 9 : 1).trim()}\``;
      return { ...extractSegments(article(`${words.repeat(2)} ${code}`)).at(-1), key: `block.${place}.text` };
    }).flatMap((segment) => (segment.text === undefined ? [] : { ...segment, text: segment.text }));
    const named = placeholdersOf(segments);
    const sent = segments.reduce((sum, { text }) => sum + text.length, 0);
    expect(Object.keys(named).length).toBeGreaterThan(4);
    expect(JSON.stringify(named).length).toBeLessThan(sent / 7);
    expect(named['block.0.text']?.[1]).toMatch(/^command0 --with.{44}…$/);
    expect(placeholdersOf([])).toEqual({});
  });
});

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dropDeadLinks } from '../../src/document/format/links.ts';
import type { Block, DocumentJson } from '../../src/document/format/schema.ts';
import { renderDocument } from '../../src/document/render/document.ts';
import { RENDERER } from '../../src/document/render/shared.ts';
import { type Resolver, splice } from '../../src/document/render/splice.ts';
import { anyDocument } from './arbitraries.ts';

const A = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const B = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb';
const resolve: Resolver = {
  link: (id) => (id === A ? { id, url: 'https://site.example/a?x=1&y=2' } : null),
  asset: (id) =>
    id === A ? { url: '/images/a b.png', altText: 'own "alt"', size: { width: 640, height: 480 } } : null,
};

const show = (document: DocumentJson, resolver = resolve) => splice(renderDocument(document), resolver);
const html = (...blocks: Block[]) => show({ version: 1, blocks }).html;
const markdown = (...blocks: Block[]) => show({ version: 1, blocks }).markdown;

/** What each renderer makes of the same documents. Where it differs, raise RENDERER: what is stored is of another. */
const RENDERINGS: Record<number, string> = { 2: 'c0c3c9854e072238' };

it('another rendering has another number', () => {
  const hash = createHash('sha256');
  for (const document of fc.sample(anyDocument, { seed: 1, numRuns: 500 })) {
    hash.update(JSON.stringify(renderDocument(document)));
  }
  expect(hash.digest('hex').slice(0, 16)).toBe(RENDERINGS[RENDERER]);
});

describe('rendering', () => {
  it('renders every block type', () => {
    const blocks: Block[] = [
      { id: '1', type: 'heading', level: 2, text: 'A & B' },
      { id: '2', type: 'paragraph', text: '**not** bold\nnext' },
      {
        id: '3',
        type: 'paragraph',
        text: '**bold** *it* `a<b` [l](/r "t") <me@mail.example>',
        format: 'markdown',
      },
      {
        id: '4',
        type: 'list',
        ordered: true,
        items: ['a', 'b'],
        children: [{ ordered: false, items: ['c'] }, null],
      },
      { id: '5', type: 'quote', text: 'Said', attribution: 'Ann' },
      { id: '6', type: 'image', assetId: A, altText: '', caption: 'Cap' },
      { id: '7', type: 'code', text: 'a < b', language: 'c++ "x"' },
      { id: '8', type: 'table', header: ['h', 'i'], rows: [['1|2', '3']], align: ['right', null] },
      { id: '9', type: 'divider' },
    ];
    expect(html(...blocks).split('\n')).toEqual([
      '<h2>A &amp; B</h2>',
      '<p>**not** bold<br>next</p>',
      '<p><strong>bold</strong> <em>it</em> <code>a&lt;b</code> <a href="/r" title="t">l</a> <a href="mailto:me@mail.example">me@mail.example</a></p>',
      '<ol><li>a<ul><li>c</li></ul></li><li>b</li></ol>',
      '<blockquote><p>Said</p><footer>Ann</footer></blockquote>',
      '<figure><img src="/images/a%20b.png" alt="own &quot;alt&quot;" width="640" height="480" loading="lazy"><figcaption>Cap</figcaption></figure>',
      '<pre><code class="language-c++x">a &lt; b</code></pre>',
      '<table><thead><tr><th align="right">h</th><th>i</th></tr></thead><tbody><tr><td align="right">1|2</td><td>3</td></tr></tbody></table>',
      '<hr>',
    ]);
    expect(markdown(...blocks)).toBe(
      [
        '## A & B',
        '\\*\\*not\\*\\* bold\\\nnext',
        '**bold** *it* `a<b` [l](/r "t") <me@mail.example>',
        '1. a\n   - c\n2. b',
        '> Said\n>\n> — Ann',
        '![own "alt"](/images/a%20b.png "Cap")',
        '```c++x\na < b\n```',
        '| h | i |\n| -: | - |\n| 1\\|2 | 3 |',
        '---\n',
      ].join('\n\n'),
    );
  });

  // contract.md F17
  it('links only words that resolve, the first occurrence, once per article in the document', () => {
    const links = [
      { text: 'tea', articleId: A },
      { text: 'pot', articleId: B },
    ];
    const href = 'href="https://site.example/a?x=1&amp;y=2"';
    expect(
      html(
        { id: '1', type: 'paragraph', text: 'gone', links },
        { id: '2', type: 'paragraph', text: '[tea](/x)', links, format: 'markdown' },
        { id: '3', type: 'paragraph', text: 'tea pot, tea', links },
        { id: '4', type: 'quote', text: 'tea', links },
      ),
    ).toBe(
      `<p>gone</p>\n<p><a href="/x">tea</a></p>\n<p><a ${href}>tea</a> pot, tea</p>\n<blockquote><p>tea</p></blockquote>`,
    );
  });

  // contract.md F8
  it('renders nothing for a missing asset or an address that is not for images', () => {
    const image = (assetId: string): Block => ({ id: assetId, type: 'image', assetId, altText: 'x' });
    expect(html(image(B))).toBe('');
    expect(markdown(image(B))).toBe('');
    const hostile = { ...resolve, asset: () => ({ url: 'javascript:alert(1)', altText: '', size: null }) };
    expect(show({ version: 1, blocks: [image(A)] }, hostile).html).toBe('');
  });

  // contract.md F4
  it('drops on save links whose words are gone and later links to the same article', () => {
    const link = (text: string, articleId: string) => ({ text, articleId });
    const document: DocumentJson = {
      version: 1,
      blocks: [
        { id: '1', type: 'paragraph', text: 'nothing here', links: [link('tea', A)] },
        { id: '2', type: 'paragraph', text: 'tea', links: [link('x', B)], format: 'markdown' },
        {
          id: '3',
          type: 'quote',
          text: 'tea and pot',
          links: [link('tea', A), link('and', A), link('pot', B)],
        },
        { id: '4', type: 'paragraph', text: 'tea', links: [link('tea', A)] },
      ],
    };
    expect(dropDeadLinks(document).blocks).toStrictEqual([
      { id: '1', type: 'paragraph', text: 'nothing here' },
      document.blocks[1],
      { id: '3', type: 'quote', text: 'tea and pot', links: [link('tea', A), link('pot', B)] },
      { id: '4', type: 'paragraph', text: 'tea' },
    ]);
  });

  it('writes no tag and no address of its own choosing, for any document', () => {
    const allowed =
      /^<(?:\/?(?:h[1-6]|p|strong|em|code|ul|ol|li|blockquote|footer|figure|figcaption|table|thead|tbody|tr|pre|a)|br|hr|code class="language-[\w+#.-]+"|a href="[^"<>]*"(?: title="[^"<>]*")?|img src="[^"<>]*" alt="[^"<>]*" width="1" height="2" loading="lazy"|t[hd](?: align="(?:left|center|right)")?|\/t[hd])>$/;
    fc.assert(
      fc.property(anyDocument, (document) => {
        const { html: rendered } = show(document, {
          link: (id) => ({ id, url: '/x"><script>' }),
          asset: () => ({ url: '/"<', altText: '"<', size: { width: 1, height: 2 } }),
        });
        const tags = rendered.match(/<[^>]*>?/g) ?? [];
        expect(tags.filter((tag) => !allowed.test(tag))).toEqual([]);
        for (const [, url] of rendered.matchAll(/(?:href|src)="([^"]*)"/g)) {
          expect(url).toMatch(/^(?:https?:|mailto:|[/#?.]|$|%)/);
        }
        expect(rendered.match(/<(?!\/|br>|hr>|img )/g)?.length ?? 0).toBe(
          rendered.match(/<\//g)?.length ?? 0,
        );
      }),
      { numRuns: 300 },
    );
  });
});

import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { describe, expect, it } from 'vitest';
import { claim, hasArticleLinks, placeLinks } from '../../src/document/format/links.ts';
import type { ArticleLink, Block, DocumentJson } from '../../src/document/format/schema.ts';
import { type Rendered, renderDocument } from '../../src/document/render/document.ts';
import { renderHtml } from '../../src/document/render/html.ts';
import {
  imageTargets,
  linkTargets,
  parsePlaces,
  replaceAssetsInPlaces,
} from '../../src/document/render/places.ts';
import { type Resolver, shownLinks, splice } from '../../src/document/render/splice.ts';
import { anyDocument, plainText } from './arbitraries.ts';
import { readMarkdown, renderInlined } from './support/inlined-links.ts';

const idOf = (digit: number) => `${digit.toString(16).repeat(8)}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`;
const ids = Array.from({ length: 8 }, (_, index) => idOf(index));

/** Texts in which what stands beside a link decides how a character is read. */
const hardText = fc
  .array(
    fc.oneof(
      {
        weight: 2,
        arbitrary: fc.constantFrom('a', 'b c', 'tea', 'amp;', '#x41;', '1', '23', '漢字', '😀', '。'),
      },
      { weight: 3, arbitrary: fc.constantFrom(...'[]()!\\*_`<>&#+-=.|~:"\'') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(' ', '  ', '\n', '\n\n', '\r\n', '\r', '\t', '\u00a0', '\u3000'),
      },
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

const linksOf = (text: string): fc.Arbitrary<ArticleLink[]> => {
  const characters = [...text];
  const link = fc
    .tuple(fc.nat(characters.length), fc.integer({ min: 1, max: 8 }), fc.constantFrom(...ids))
    .map(([start, length, articleId]) => ({
      text: characters.slice(start, start + length).join('') || text || 'gone',
      articleId,
    }));
  return fc.array(link, { minLength: 1, maxLength: 5 });
};
const linkedBlock = fc.oneof(hardText, hardText, plainText).chain((text) => {
  const links = linksOf(text);
  const quote = {
    type: fc.constant('quote' as const),
    text: fc.constant(text),
    links,
    attribution: hardText,
  };
  return fc.oneof(
    fc.record({ type: fc.constant('paragraph' as const), text: fc.constant(text), links }),
    fc.record(quote, { requiredKeys: ['type', 'text', 'links'] }),
  );
});
const list = fc.record({
  type: fc.constant('list' as const),
  ordered: fc.boolean(),
  items: fc.array(hardText, { maxLength: 2 }),
});
const imageBlock = fc.record(
  {
    type: fc.constant('image' as const),
    assetId: fc.constantFrom(...ids),
    altText: hardText,
    caption: hardText,
  },
  { requiredKeys: ['type', 'assetId', 'altText'] },
);
const hardDocument = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: linkedBlock },
      { weight: 3, arbitrary: imageBlock },
      { weight: 2, arbitrary: list },
      { weight: 1, arbitrary: fc.constant({ type: 'code' as const, text: 'a < b' }) },
      { weight: 1, arbitrary: fc.constant({ type: 'paragraph' as const, text: '' }) },
    ),
    { maxLength: 7 },
  )
  .map(
    (blocks): DocumentJson => ({
      version: 1,
      blocks: blocks.map((block, index) => ({ id: `${index}`, ...block }) as Block),
    }),
  );

const address = fc.constantFrom(
  'https://a.example/x?y=1&z=2#f',
  '/a_(b)_*c*',
  'https://a.example/)(',
  'https://a.example/a b"c<d>\\e\'f`g',
  '/&amp;&copy',
  '/日本|[x]',
  '',
  'mailto:a@b.example',
  'javascript:alert(1)',
);
/** Some ids lead nowhere, some to one article with others. */
const anyResolver = fc
  .record({
    links: fc.array(fc.option(fc.tuple(fc.nat(12), address), { freq: 3 }), { minLength: 16, maxLength: 16 }),
    assets: fc.array(fc.option(fc.tuple(address, hardText), { freq: 3 }), { minLength: 16, maxLength: 16 }),
  })
  .map(({ links, assets }): Resolver => {
    const numberOf = (id: string) => Number.parseInt(id.charAt(0), 16);
    return {
      link: (id) => {
        const [article, url] = links[numberOf(id)] ?? [];
        return url === undefined ? null : { id: `${article}`, url };
      },
      asset: (id) => {
        const [url, altText] = assets[numberOf(id)] ?? [];
        return url === undefined
          ? null
          : { url, altText: altText ?? '', size: url.length > 8 ? { width: url.length, height: 2 } : null };
      },
    };
  });

/** As it comes back from the database. */
function stored({ places, ...texts }: Rendered): Rendered {
  return { ...texts, places: places && parsePlaces(JSON.stringify(places)) };
}

describe('the places of a document', () => {
  it('show, once filled, what the document shows with its links and images in it', () => {
    fc.assert(
      fc.property(fc.oneof(hardDocument, hardDocument, anyDocument), anyResolver, (document, resolver) => {
        const rendered = renderDocument(document);
        const wanted = renderInlined(document, resolver);
        const shown = splice(stored(rendered), resolver);
        expect(shown.html).toBe(wanted.html);
        expect(readMarkdown(shown.markdown)).toEqual(wanted.tree);
      }),
      { numRuns: 400 },
    );
  });

  it('name the words of their links in both texts', () => {
    fc.assert(
      fc.property(hardDocument, (document) => {
        const { html, markdown, places } = renderDocument(document);
        const words = new Map<string, string>();
        for (const block of document.blocks) {
          if (!hasArticleLinks(block)) continue;
          for (const { link } of placeLinks(block.text, block.links)) {
            if (claim(new Set(words.keys()), link.articleId)) words.set(link.articleId, link.text.trim());
          }
        }
        const wanted = [...words].filter(([, text]) => text !== '');
        expect(places?.links.map(({ articleId }) => articleId) ?? []).toEqual(wanted.map(([id]) => id));
        for (const [index, [, text]] of wanted.entries()) {
          const place = places?.links[index];
          const [shown] = readMarkdown(
            `[${markdown.slice(...(place?.markdown ?? []))}](/)`.replace(/\n> /g, '\n'),
          ).children;
          const lines = text.split(/\r\n?|\n/);
          expect(html.slice(...(place?.html ?? []))).toBe(
            renderHtml({ version: 1, blocks: [{ id: '1', type: 'paragraph', text }] }).slice(3, -4),
          );
          expect(textOf(shown)).toBe(lines.join('\n'));
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['Wow!tea', 'tea', 'Wow\\!tea', 'Wow\\![tea](/t)'],
    ['a] b', 'a] b', 'a\\] b', '[a\\] b](/t)'],
    ['C:\\tea', 'tea', 'C:\\\\tea', 'C:\\\\[tea](/t)'],
    ['my_tea_pot', 'tea', 'my\\_tea\\_pot', 'my\\_[tea](/t)\\_pot'],
    ['1. tea', '1', '1\\. tea', '[1](/t)\\. tea'],
    [' tea, a pot', ' tea', 'tea, a pot', '[tea](/t), a pot'],
  ])('read the same as words and as a link: %s', (text, words, plain, linked) => {
    const links = [{ text: words, articleId: idOf(1) }];
    const rendered = renderDocument({ version: 1, blocks: [{ id: '1', type: 'paragraph', text, links }] });
    expect(rendered.markdown).toBe(`${plain}\n`);
    const link = (id: string) => ({ id, url: '/t' });
    expect(splice(rendered, { link, asset: () => null }).markdown).toBe(`${linked}\n`);
  });

  it('leave out links that overlap one shown before, and further ones to its article', () => {
    const [a = '', b = '', c = ''] = ids;
    const links = [
      { text: 'green tea', articleId: a },
      { text: 'tea pot', articleId: b },
      { text: 'pot', articleId: c },
    ];
    const { places } = renderDocument({
      version: 1,
      blocks: [{ id: '1', type: 'paragraph', text: 'A green tea pot', links }],
    });
    if (places === null) throw new Error('it has links');
    const addresses = (targets: Record<string, string>) =>
      shownLinks(places, (id) => (targets[id] ? { id: targets[id], url: `/${targets[id]}` } : null));
    expect(addresses({ [a]: 'x', [b]: 'y', [c]: 'z' })).toEqual(['/x', null, '/z']);
    expect(addresses({ [b]: 'y', [c]: 'z' })).toEqual([null, '/y', null]);
    expect(addresses({ [a]: 'x', [c]: 'x' })).toEqual(['/x', null, null]);
    expect(addresses({ [a]: 'y', [b]: 'x', [c]: 'x' })).toEqual(['/y', null, '/x']);
  });

  it('are none where nothing outside is shown, and what they lead to where something is', () => {
    const [a = '', b = ''] = ids;
    const image = { type: 'image' as const, assetId: a, altText: '' };
    const plain = renderDocument({ version: 1, blocks: [{ id: '1', type: 'paragraph', text: 'Tea' }] });
    expect(plain).toEqual({ html: '<p>Tea</p>', markdown: 'Tea\n', places: null });
    const { html, markdown, places } = renderDocument({
      version: 1,
      blocks: [
        { id: '1', ...image },
        { id: '2', type: 'paragraph', text: 'Tea', links: [{ text: 'Tea', articleId: b }] },
        { id: '3', ...image, caption: 'C' },
      ],
    });
    expect({ html, markdown }).toEqual({ html: '<p>Tea</p>', markdown: 'Tea\n' });
    expect(places).toEqual({
      links: [{ articleId: b, html: [3, 6], markdown: [0, 3] }],
      images: [
        { assetId: a, altText: '', html: 0, markdown: 0 },
        { assetId: a, altText: '', caption: 'C', html: 10, markdown: 3 },
      ],
    });
    if (places === null) return;
    expect([linkTargets(places), imageTargets(places)]).toEqual([[b], [a]]);
    expect(replaceAssetsInPlaces(places, new Map([[a, b]]))?.images.map(({ assetId }) => assetId)).toEqual([
      b,
      b,
    ]);
  });
});

const textOf = (node: Nodes | undefined): string => {
  if (node === undefined) return '';
  if (node.type === 'break') return '\n';
  if ('children' in node) return node.children.map(textOf).join('');
  return 'value' in node ? node.value : '';
};

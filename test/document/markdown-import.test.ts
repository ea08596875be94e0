import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/document/format/parse.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { importMarkdown } from '../../src/document/markdown/import.ts';
import { renderDocument } from '../../src/document/render/document.ts';
import { splice } from '../../src/document/render/splice.ts';
import { anyText } from '../support/any-text.ts';
import { anyDocument } from './arbitraries.ts';

const ASSET = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const markdownOf = (document: DocumentJson) =>
  splice(renderDocument(document), {
    link: () => null,
    asset: () => ({ url: 'img/a.png', altText: '', size: null }),
  }).markdown;
const options = { keepTitleHeading: true, resolveImage: () => ASSET };

const again = (document: DocumentJson) => importMarkdown(markdownOf(document), options).document;

describe('importing Markdown', () => {
  it('reads every construct', () => {
    const source = [
      '---\ntitle: Ignored\n---',
      '# The *title*',
      'Intro with **bold**, `code`\nand a [ref][r]. <b>raw</b> <br>text  \nbroken',
      '[r]: https://a.example "T"',
      'Plain & simple: 2 * 3 < 7_8',
      '1. one\n   - two\n     - three\n       - four\n         - five\n           - six\n2. next',
      '> Words.\n>\n> — Someone',
      '```ts title=x\nconst a = "b";\n```',
      '| a | b |\n|:-:|---|\n| `x` | y \\| z |\n| short |',
      '![An image](img/a%20b.png?raw=1 "Cap") ![](https://a.example/remote.png)',
      '***',
      '<div><p>Some <em>html</em> &amp; text &#8212; &#x2014; &mdash;</p><script>x()</script></div>',
      '- item\n\n  ```sh\n  npm i\n  ```\n- other',
      '[bad](javascript:alert(1)) ![x](data:image/png;base64,AAAA)',
    ].join('\n\n');
    const seen: unknown[] = [];
    const result = importMarkdown(source, {
      resolveImage: (image) => {
        seen.push(image);
        return ASSET;
      },
    });
    expect(result.title).toBe('The title');
    expect(seen).toEqual([{ path: 'img/a b.png', alt: 'An image' }]);
    expect(result.images).toEqual([{ url: 'img/a%20b.png?raw=1', alt: 'An image', title: 'Cap' }]);
    expect(parseDocument(result.document)).toEqual({ ok: true, document: result.document });
    expect(result.document.blocks.map(({ id, ...block }) => block)).toEqual([
      {
        type: 'paragraph',
        text: 'Intro with **bold**, `code` and a [ref](https://a.example "T"). raw\ntext\nbroken',
        format: 'markdown',
      },
      { type: 'paragraph', text: 'Plain & simple: 2 * 3 < 7_8' },
      {
        type: 'list',
        ordered: true,
        items: ['one', 'next'],
        children: [
          {
            ordered: false,
            items: ['two'],
            children: [
              {
                ordered: false,
                items: ['three'],
                children: [{ ordered: false, items: ['four', 'five', 'six'] }],
              },
            ],
          },
          null,
        ],
      },
      { type: 'quote', text: 'Words.', attribution: 'Someone' },
      { type: 'code', text: 'const a = "b";', language: 'ts' },
      {
        type: 'table',
        header: ['a', 'b'],
        rows: [
          ['`x`', 'y | z'],
          ['short', ''],
        ],
        align: ['center', null],
        format: 'markdown',
      },
      { type: 'image', assetId: ASSET, altText: 'An image', caption: 'Cap' },
      { type: 'paragraph', text: '<https://a.example/remote.png>', format: 'markdown' },
      { type: 'divider' },
      { type: 'paragraph', text: 'Some html & text — — —' },
      { type: 'list', ordered: false, items: ['item'] },
      { type: 'code', text: 'npm i', language: 'sh' },
      { type: 'list', ordered: false, items: ['other'] },
      { type: 'paragraph', text: 'bad x' },
    ]);
    expect(result.document.blocks.map(({ id }) => id)).toEqual(
      result.document.blocks.map((_, index) => `b${index + 1}`),
    );
  });

  it('takes the title from the first heading and drops it from the body only at level 1', () => {
    expect(importMarkdown('')).toEqual({
      title: null,
      document: { version: 1, blocks: [] },
      images: [],
      unusable: 0,
    });
    expect(importMarkdown('---\ntitle: "Front: matter"\n---\ntext').title).toBe('Front: matter');
    expect(importMarkdown('---\n\ntext\n\n---\n').document.blocks).toHaveLength(3);
    expect(importMarkdown('## Two\n').document.blocks).toHaveLength(1);
    expect(importMarkdown('## Two\n').title).toBe('Two');
    expect(importMarkdown('# One\n').document.blocks).toHaveLength(0);
    expect(importMarkdown('# One\n', { keepTitleHeading: true }).document.blocks).toHaveLength(1);
  });

  it('keeps an attribution of several lines', () => {
    const quote = { id: 'b1', type: 'quote' as const, text: 'Words.', attribution: 'Jane Doe\nGardener' };
    expect(again({ version: 1, blocks: [quote] }).blocks).toEqual([quote]);
    const other = { ...quote, attribution: 'Jane Doe\u2028Gardener\n\nBern' };
    expect(again({ version: 1, blocks: [other] }).blocks).toEqual([other]);
    const dialogue = '> Words.\n>\n> — Where?\\\n> — There.';
    expect(importMarkdown(dialogue).document.blocks).toEqual([
      { id: 'b1', type: 'quote', text: 'Words.\n\n— Where?\n— There.' },
    ]);
  });

  it('takes the images of raw HTML as it takes those of Markdown', () => {
    const source = [
      '<p align="center"><img src="https://a.example/logo.png" alt="The logo" width=9></p>',
      'Text <img src="img/a.png" alt="An image"> and <img src="https://a.example/b.png">.',
      '<!-- <img src="hidden.png"> --><img alt="No address">',
      '[<img src="badge.svg" alt="Badge">](https://a.example)',
    ].join('\n\n');
    const { document, images } = importMarkdown(source, { resolveImage: () => ASSET });
    expect(images.map(({ url }) => url)).toEqual(['img/a.png']);
    expect(document.blocks.map(({ id, ...block }) => block)).toEqual([
      { type: 'paragraph', text: '[The logo](https://a.example/logo.png)', format: 'markdown' },
      { type: 'paragraph', text: 'Text  and <https://a.example/b.png>.', format: 'markdown' },
      { type: 'image', assetId: ASSET, altText: 'An image' },
      { type: 'paragraph', text: 'No address' },
      { type: 'paragraph', text: '[Badge](https://a.example)', format: 'markdown' },
    ]);
  });

  it('counts the images that have an address of no use, and keeps their alternative text', () => {
    const source =
      '![One](data:image/png;base64,AA)\n\n<img src="data:,">\n\nText <img src="javascript:x" alt="two">.';
    const { document, images, unusable } = importMarkdown(source);
    expect([images, unusable]).toEqual([[], 3]);
    expect(document.blocks).toEqual([
      { id: 'b1', type: 'paragraph', text: 'One' },
      { id: 'b2', type: 'paragraph', text: 'Text two.' },
    ]);
  });

  it('makes a valid document of any text', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), anyDocument.map(markdownOf)), (source) => {
        expect(parseDocument(importMarkdown(source, options).document)).toMatchObject({ ok: true });
      }),
      { numRuns: 150 },
    );
  });

  it('keeps the meaning of a document through rendering and importing again', () => {
    fc.assert(
      fc.property(anyDocument, (document) => {
        const once = again(document);
        expect(again(once)).toEqual(once);
      }),
      { numRuns: 250 },
    );
  });

  it('keeps the meaning of real README files', () => {
    const files = readdirSync('node_modules', { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => `node_modules/${entry.name}`)
      .slice(0, 60)
      .flatMap((folder) =>
        readdirSync(folder)
          .filter((name) => /^readme\.md$/i.test(name))
          .map((name) => `${folder}/${name}`),
      );
    expect(files.length).toBeGreaterThan(20);
    for (const file of files) {
      const { document } = importMarkdown(readFileSync(file, 'utf8'), options);
      expect(parseDocument(document).ok, file).toBe(true);
      expect(again(document), file).toEqual(document);
    }
  });
});

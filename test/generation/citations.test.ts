import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block } from '../../src/document/format/schema.ts';
import { renderMarkdown } from '../../src/document/render/markdown.ts';
import { deliveredWords } from '../../src/generation/delivered.ts';
import {
  cite,
  sourceList,
  sourcesHeading,
  withKnownReferences,
} from '../../src/generation/writing/citations.ts';
import { isEditable } from '../../src/generation/writing/editing/apply-edits.ts';
import { checkDraft } from '../../src/generation/writing/editing/check-draft.ts';
import { draftSources } from '../../src/generation/writing/editing/sources.ts';
import { readPart } from '../../src/generation/writing/markdown/read.ts';
import { briefOf } from './support.ts';

const NOTES = [
  { url: 'https://one.example/a', title: 'About a', site: 'One' },
  { url: 'https://two.example/b', title: 'About b', site: 'Two' },
  { url: 'https://one.example/a', title: 'About a', site: 'One' },
];
const rules = {
  section: { id: 's', heading: 'Soil', level: 2 },
  articles: [{ id: 'article-1', title: 'Compost' }],
  earlier: new Set<string>(),
  addresses: new Set<string>(),
  said: '',
  notes: NOTES.length,
};
const read = (text: string): readonly Block[] => readPart(text, rules).blocks;
const markdownOf = (blocks: readonly Block[]): string => renderMarkdown({ version: 1, blocks: [...blocks] });
const paragraph = (text: string): Block => ({ id: 'b', type: 'paragraph', text });

// contract.md N24
describe('references as a model writes them', () => {
  it.each([
    ['Water it weekly [1].', 'Water it weekly [1].'],
    ['Water it weekly [1](https://evil.example).', 'Water it weekly [1].'],
    ['Water it weekly [1].\n\n[1]: https://evil.example', 'Water it weekly [1].'],
    ['Water it weekly [[2]](https://evil.example).', 'Water it weekly [2].'],
    ['Water it weekly [1, 2, 9].', 'Water it weekly [1, 2].'],
    ['Water it weekly [99].', 'Water it weekly.'],
    ['Water it weekly [0].', 'Water it weekly.'],
  ])('%j stays as %j', (written, kept) => {
    expect(read(written)).toMatchObject([{ type: 'paragraph', text: kept }]);
  });

  it('are no defect of a text, and no words of it', () => {
    expect(readPart('Water it weekly [1].', rules).defects).toEqual([]);
    expect(deliveredWords(read('Water it weekly [1], or daily [2].'))).toBe(5);
  });

  // contract.md G73
  it('keep their blocks from edits, with marks or without', () => {
    for (const text of ['Weekly [1].', 'Weekly, **always** [1].', 'Weekly [1, 2].']) {
      expect(read(text).map((block) => isEditable(block))).toEqual([false]);
    }
    expect(read('Weekly, **always**.').map((block) => isEditable(block))).toEqual([true]);
  });

  it('stand in no paragraph with a link to an article', () => {
    const [cited] = read('See [compost](article:1) for that [1].');
    expect(cited).toMatchObject({ text: 'See compost for that [1].' });
    expect(cited).not.toHaveProperty('links');
    const [bold] = read('See [compost](article:1), which is **good**.');
    expect(bold).not.toHaveProperty('links');
    expect(read('See [compost](article:1).')).toMatchObject([
      { links: [{ text: 'compost', articleId: 'article-1' }] },
    ]);
  });
});

// contract.md N25
describe('citations', () => {
  const blocks = [
    paragraph('Weekly [2]. In pots **daily** [1], as here [3].'),
    { id: 'l', type: 'list' as const, ordered: false, items: ['In sand: more [2].', 'In clay: less.'] },
  ];

  it('are links to the stored addresses, numbered as the article cites them', () => {
    const { parts, sources } = cite([blocks], NOTES, 'links');
    expect(sources.map(({ url }) => url)).toEqual(['https://two.example/b', 'https://one.example/a']);
    const text = markdownOf(parts[0] ?? []);
    expect(text).toContain('Weekly [\\[1\\]](https://two.example/b).');
    expect(text).toContain('as here [\\[2\\]](https://one.example/a).');
    expect(text).toContain('In sand: more [\\[1\\]](https://two.example/b).');
  });

  it('are numbers, with the sources in a list', () => {
    const { parts, sources } = cite([blocks], NOTES, 'list');
    expect(JSON.stringify(parts)).not.toContain('http');
    const list = markdownOf(sourceList(sources, 'de'));
    expect(list).toContain('## Quellen');
    expect(list).toContain('1. [About b](https://two.example/b), Two');
  });

  it('are nothing', () => {
    const { parts } = cite([blocks], NOTES, 'none');
    const text = markdownOf(parts[0] ?? []);
    expect(text).not.toMatch(/\[|http/);
    expect(text).toContain('In sand: more.');
  });

  it('have a heading in the language of the text', () => {
    expect(['en-GB', 'pt-BR', 'sr-Latn', 'xx'].map(sourcesHeading)).toEqual([
      'Sources',
      'Fontes',
      'Izvori',
      'Sources',
    ]);
    expect(sourceList([], 'en')).toEqual([]);
  });
});

const words = fc.constantFrom('water', 'soil', 'the', 'roots', 'need', 'daily');
const invented = fc.oneof(
  words,
  fc.integer({ min: 0, max: 999 }).map((number) => `[${number}]`),
  fc.tuple(fc.nat(9), fc.webUrl()).map(([number, url]) => `[${number}](${url})`),
  fc.webUrl().map((url) => `[source](${url})`),
  fc.webUrl().map((url) => `<a href="${url}">x</a>`),
  fc.constantFrom(
    '**',
    '`',
    '[',
    ']',
    '(',
    '\n\n',
    '- ',
    '> ',
    '# ',
    '| a | b |\n',
    '[1]: https://x.example\n',
  ),
  fc.integer({ min: 1_000, max: 9_999 }).map((figure) => `${figure} litres`),
);

describe('a model that invents figures and citations', () => {
  // contract.md N24, N25 and N27
  it('gets no address into an article, no number without a source, and no figure past the checks', () => {
    fc.assert(
      fc.property(
        fc.array(invented, { minLength: 1, maxLength: 40 }),
        fc.constantFrom('links' as const, 'list' as const, 'none' as const),
        (pieces, mode) => {
          const written = read(pieces.join(' '));
          const { parts, sources } = cite([written], NOTES, mode);
          const shown = [...(parts[0] ?? []), ...sourceList(sources, 'en')];
          const text = markdownOf(shown);
          for (const [, url] of text.matchAll(/\]\(<?(\w+:[^)>\s]*)/g)) {
            expect(NOTES.map((note) => note.url)).toContain(url);
          }
          for (const source of sources) expect(NOTES).toContain(source);
          // Figures of the text that no note has are found.
          const brief = {
            ...briefOf(),
            notes: [{ quote: '1000 litres', title: '', site: '', published: null }],
          };
          const part = { id: 's', planned: 100, blocks: written };
          const { figures } = checkDraft([part], draftSources(brief, null));
          const told = new Set(figures.map(({ figure }) => figure));
          const prose = written.filter(({ type }) => type === 'paragraph').slice(0, 20);
          for (const block of prose) {
            const plain = block.type === 'paragraph' ? block.text : '';
            for (const [, figure = ''] of plain.matchAll(/(?:^| )(\d{4}) litres/g)) {
              if (figures.length < 40) expect(told.has(figure)).toBe(figure !== '1000');
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('leaves blocks without references as they are', () => {
    const block = paragraph('A list[3] in `code[4]`, and nothing else');
    expect(withKnownReferences([{ ...block, text: 'No reference.' } as Block], 3)).toEqual([
      { ...block, text: 'No reference.' },
    ]);
    const code: Block = { id: 'c', type: 'code', text: 'list[9]' };
    expect(withKnownReferences([code], 3)).toEqual([code]);
  });
});

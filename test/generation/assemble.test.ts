import '../support/fast-check.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/document/format/parse.ts';
import type { Block } from '../../src/document/format/schema.ts';
import { collectTexts } from '../../src/document/format/walk.ts';
import { parseInline } from '../../src/document/inline/parse.ts';
import { deliveredWords } from '../../src/generation/delivered.ts';
import { assembleBody } from '../../src/generation/writing/assemble.ts';
import type { WrittenPart } from '../../src/generation/writing/brief.ts';
import { blockId } from '../../src/generation/writing/markdown/blocks.ts';
import { readPart } from '../../src/generation/writing/markdown/read.ts';
import { anyMarkdown, anyOutline } from './arbitraries.ts';

/** A part as it is read from whatever was written. */
function partOf(id: string, text: string): WrittenPart {
  const section = { id, heading: 'Soil', level: 2 };
  const { blocks, mended } = readPart(text, {
    section,
    articles: [],
    said: '',
    addresses: new Set(),
    earlier: new Set(),
  });
  return { blocks, words: deliveredWords(blocks), mended };
}
const partWith = (...blocks: Block[]): WrittenPart => ({ blocks, words: deliveredWords(blocks), mended: {} });

const anyArticle = anyOutline({ least: 1, most: 6 }).chain((outline) => {
  const { length } = outline.sections;
  return fc.record({
    outline: fc.constant(outline),
    answers: fc.array(anyMarkdown, { minLength: length, maxLength: length }),
    language: fc.constantFrom('en', 'de', 'ja', 'pt-BR', 'zh-TW', 'sr-Latn', 'tlh'),
    faq: fc.boolean(),
  });
});

describe('the body', () => {
  // contract.md G43
  it('of whatever the checks let through is a valid document without addresses, its headings from the outline', () => {
    fc.assert(
      fc.property(anyArticle, ({ outline, answers, language, faq }) => {
        const parts = outline.sections.map(({ id }, index) => partOf(id, answers[index] ?? ''));
        const questions = { language, part: partOf(' faq', '### Why?\n\nBecause.') };
        const document = assembleBody(outline, parts, faq ? questions : null);
        expect(parseDocument(document)).toEqual({ ok: true, document });
        const headings = document.blocks.filter((block) => block.type === 'heading');
        expect(headings.every(({ level }) => level >= 2)).toBe(true);
        const shown = outline.sections.filter((_, index) => (parts[index]?.blocks.length ?? 0) > 0);
        for (const { level, heading } of shown)
          expect(headings).toContainEqual(expect.objectContaining({ level, text: heading }));
        expect(
          document.blocks.some(({ id }) =>
            outline.sections.some((section) => blockId(section.id, 0) === id && !shown.includes(section)),
          ),
        ).toBe(false);
        const own = JSON.stringify(parts.map(({ blocks }) => blocks));
        expect(own).not.toMatch(/https?:\/\/\w|mailto:\w|\/offer/);
        const runs = collectTexts(document).flatMap((field) =>
          field.markdown ? parseInline(field.text) : [],
        );
        expect(runs.filter(({ link }) => link !== null)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('is valid also when somebody has searched for ids of sections whose hashes begin alike', () => {
    const [outline] = fc.sample(anyOutline({ least: 2, most: 2 }), 1);
    if (outline === undefined) throw new Error('no outline');
    const ids = ['57ab6d045b81', '596c8b39a684'];
    const sections = outline.sections.map((section, index) => ({ ...section, id: ids[index] ?? '' }));
    const parts = ids.map((id) => partOf(id, 'Roses like the sun.'));
    expect(assembleBody({ ...outline, sections }, parts, null).blocks).toHaveLength(4);
  });

  // contract.md G41
  it.each([
    ['en-GB', 'Frequently asked questions'],
    ['de-AT', 'Häufig gestellte Fragen'],
    ['zh-TW', '常見問題'],
    ['zh', '常见问题'],
    ['sr-Latn', 'Često postavljana pitanja'],
    ['tlh', 'Frequently asked questions'],
  ])('ends with the questions, below a heading in %s', (language, heading) => {
    const [outline] = fc.sample(anyOutline({ least: 2, most: 2 }), 1);
    if (outline === undefined) throw new Error('no outline');
    const part = partOf(' faq', '### Why?\n\nBecause.');
    const [first, second] = ['Roses like the sun.', 'Lilies like it, too.'].map((own, at) =>
      partOf(`${at}`, own),
    );
    if (first === undefined || second === undefined) throw new Error('no parts');
    const { blocks } = assembleBody(outline, [first, second], { language, part });
    expect(blocks.slice(4).map(({ id: _, ...block }) => block)).toEqual([
      { type: 'heading', level: 2, text: heading },
      { type: 'heading', level: 3, text: 'Why?' },
      { type: 'paragraph', text: 'Because.' },
    ]);
  });

  it('keeps the first link to an article, and the marks that a document may hold', () => {
    const [outline] = fc.sample(anyOutline({ least: 2, most: 2 }), 1);
    if (outline === undefined) throw new Error('no outline');
    const links = [{ text: 'rose', articleId: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11' }];
    const linked = (id: string) => ({ id, type: 'paragraph' as const, text: 'A rose.', links });
    const marked = (id: string) => ({
      id,
      type: 'paragraph' as const,
      text: '**b** '.repeat(49),
      format: 'markdown' as const,
    });
    const many = Array.from({ length: 300 }, (_, index) => marked(`m${index}`));
    const document = assembleBody(outline, [partWith(linked('a')), partWith(linked('b'), ...many)], null);
    expect(document.blocks.filter((block) => 'links' in block)).toHaveLength(1);
    expect(document.blocks.at(-1)).toEqual({ id: 'm299', type: 'paragraph', text: 'b '.repeat(49).trim() });
  });
});

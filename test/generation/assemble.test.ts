import '../support/fast-check.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/document/format/parse.ts';
import { collectTexts } from '../../src/document/format/walk.ts';
import { parseInline } from '../../src/document/inline/parse.ts';
import { assembleBody } from '../../src/generation/writing/assemble.ts';
import { sectionOutput } from '../../src/generation/writing/model-output.ts';
import { PartBuilder } from '../../src/generation/writing/part-builder.ts';
import { parseResponse } from '../../src/providers/ask.ts';
import { markdownText, plainText } from '../document/arbitraries.ts';
import { anyOutline } from './arbitraries.ts';
import { paragraph } from './support.ts';

const text = fc.oneof(plainText, markdownText, fc.lorem({ mode: 'sentences', maxCount: 3 }));
const anyBlock = fc.oneof(
  text.map((words) => paragraph(words)),
  fc.record({ type: fc.constant('heading'), level: fc.integer({ min: 0, max: 7 }), text }),
  fc.record({ type: fc.constant('list'), ordered: fc.boolean(), items: fc.array(text, { maxLength: 3 }) }),
  fc.record({ type: fc.constant('quote'), text }),
  fc.record({
    type: fc.constant('table'),
    header: fc.array(text, { minLength: 1, maxLength: 2 }),
    rows: fc.array(fc.array(text, { minLength: 1, maxLength: 2 }), { maxLength: 2 }),
  }),
);

/** What the checks let through of any answer; what they refuse is left out, a block at a time. */
function partOf(id: string, answered: readonly unknown[]) {
  const rules = {
    section: { id, heading: 'Soil', level: 2 },
    articles: [],
    hosts: new Set<string>(),
    said: '',
    earlier: new Set<string>(),
  };
  const kept = answered.filter((block) => {
    const parsed = parseResponse(sectionOutput, { object: { blocks: [block] }, truncated: false });
    if (!parsed.ok) return false;
    const builder = new PartBuilder(rules);
    for (const each of parsed.value.blocks) builder.append(each);
    return builder.defects.length === 0;
  });
  const builder = new PartBuilder(rules);
  const parsed = parseResponse(sectionOutput, { object: { blocks: kept }, truncated: false });
  if (parsed.ok) for (const block of parsed.value.blocks) builder.append(block);
  return { blocks: builder.finish(), words: 0, asked: 0 };
}

const anyArticle = anyOutline({ least: 1, most: 6 }).chain((outline) => {
  const { length } = outline.sections;
  return fc.record({
    outline: fc.constant(outline),
    answers: fc.array(fc.array(anyBlock, { maxLength: 5 }), { minLength: length, maxLength: length }),
    language: fc.constantFrom('en', 'de', 'ja', 'pt-BR', 'zh-TW', 'sr-Latn', 'tlh'),
    faq: fc.boolean(),
  });
});

describe('the body', () => {
  // contract.md G43
  it('of whatever the checks let through is a valid document without addresses, its headings from the outline', () => {
    fc.assert(
      fc.property(anyArticle, ({ outline, answers, language, faq }) => {
        const parts = outline.sections.map(({ id }, index) => partOf(id, answers[index] ?? []));
        const questions = { language, part: partOf(' faq', []) };
        const document = assembleBody(outline, parts, faq ? questions : null);
        expect(parseDocument(document)).toEqual({ ok: true, document });
        const headings = document.blocks.filter((block) => block.type === 'heading');
        expect(headings.every(({ level }) => level >= 2)).toBe(true);
        expect(document.blocks[0]).toMatchObject({
          level: outline.sections[0]?.level,
          text: outline.sections[0]?.heading,
        });
        const own = JSON.stringify(parts.map(({ blocks }) => blocks));
        expect(own).not.toMatch(/https?:\/\/|mailto:|a\.example/);
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
    const parts = ids.map((id) => partOf(id, [paragraph('Roses like the sun.')]));
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
    const part = partOf(' faq', [{ type: 'heading', level: 3, text: 'Why?' }, paragraph('Because.')]);
    const empty = { blocks: [], words: 0, asked: 0 };
    const { blocks } = assembleBody(outline, [empty, empty], { language, part });
    expect(blocks.slice(2).map(({ id: _, ...block }) => block)).toEqual([
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
    const document = assembleBody(
      outline,
      [
        { blocks: [linked('a')], words: 0, asked: 0 },
        { blocks: [linked('b'), ...many], words: 0, asked: 0 },
      ],
      null,
    );
    expect(document.blocks.filter((block) => 'links' in block)).toHaveLength(1);
    expect(document.blocks.at(-1)).toEqual({ id: 'm299', type: 'paragraph', text: 'b '.repeat(49).trim() });
  });
});

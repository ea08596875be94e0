import { describe, expect, it } from 'vitest';
import type { Block } from '../../../src/document/format/schema.ts';
import { checkDraft, type DraftPart } from '../../../src/generation/writing/editing/check-draft.ts';

const paragraph = (id: string, text: string): Block => ({ id, type: 'paragraph', text });
const heading = (id: string, text: string): Block => ({ id, type: 'heading', level: 2, text });
const part = (id: string, ...blocks: Block[]): DraftPart => ({ id, planned: 100, blocks });
const sources = { language: 'en', keyword: null, texts: [] };

describe('checks without a model', () => {
  // contract.md G72
  it.each([
    ['en', 'Watering the tomatoes', 'The watered tomato', true],
    ['en', 'Watering the tomatoes', 'Watering the beans', false],
    ['de', 'Die Tomaten gießen', 'die Tomate giessen', true],
    ['ja', '水やりのこつ', '水やりのこつ！', true],
    ['en', '…', '!', false],
  ])('name headings with the same words (%s: %s, %s)', (language, one, other, same) => {
    const parts = [part('a', heading('1', one)), part('b', heading('2', other))];
    const { sameHeadings } = checkDraft(parts, { ...sources, language });
    expect(sameHeadings).toEqual(same ? [{ blockId: '2', asBlockId: '1' }] : []);
  });

  it.each([
    ['en', 'watering tomatoes', 'Tomatoes are watered early.', 'How to water a tomato'],
    ['de', 'Tomaten gießen', 'Eine Tomate morgens zu gießen, spart.', 'Tomaten richtig gießen'],
    ['ja', '水やり', '朝の水やりが大切です。', '水やりの時間'],
  ])('find the keyword in lead and heading in the forms of %s', (language, keyword, lead, title) => {
    const used = checkDraft([part(' lead', paragraph('1', lead)), part('a', heading('2', title))], {
      ...sources,
      language,
      keyword,
    });
    expect(used.keyword).toMatchObject({ inLead: true, inHeading: true });
    const unused = checkDraft([part('a', heading('2', 'Other'), paragraph('3', lead))], {
      ...sources,
      language,
      keyword,
    });
    expect(unused.keyword).toMatchObject({ inLead: false, inHeading: false });
  });

  it.each([
    [3, false],
    [4, true],
  ])('call a keyword dense above 3 %% of the words (%i of 100)', (uses, tooDense) => {
    const text = `${'roses '.repeat(uses)}${'word '.repeat(100 - uses)}`;
    const { keyword } = checkDraft([part('a', paragraph('1', text))], { ...sources, keyword: 'rose' });
    expect(keyword).toMatchObject({ density: uses / 100, tooDense });
    expect(checkDraft([], { ...sources, keyword: '!' }).keyword).toBeNull();
  });

  it('name figures found in nothing the customer wrote, each once, however they are written', () => {
    const text =
      'In 2019 they sold 1.200 barrels, 37 % more, for 1,200.50 or 12\u202f000; of 5 and 37. B2B, ３ and ٧ count.';
    const found = (...texts: string[]) =>
      checkDraft([part('a', paragraph('1', text))], { ...sources, texts }).figures.map(
        ({ figure }) => figure,
      );
    expect(found()).toEqual(['2019', '1.200', '37', '1,200.50', '12\u202f000', '5', '3', '7']);
    expect(found('2019: 1,200 barrels (37%), 1200.5 and 12 000', '5; 3 or 7')).toEqual([]);
    expect(found('20190 and 120 and 3.70')).toHaveLength(8);
  });

  it('leave out figures in code, and say at most forty', () => {
    const code: Block = { id: 'c', type: 'code', text: 'const x = 42;' };
    const many = paragraph('1', Array.from({ length: 100 }, (_, index) => `${index + 100}`).join(', '));
    expect(checkDraft([part('a', code)], sources).figures).toEqual([]);
    expect(checkDraft([part('a', many)], sources).figures).toHaveLength(40);
  });

  it('have the length of each part beside the planned one, code counted', () => {
    const code: Block = { id: 'c', type: 'code', text: 'let x be 42' };
    const { lengths } = checkDraft(
      [part('a', heading('1', 'Two words'), paragraph('2', 'One.'), code)],
      sources,
    );
    expect(lengths).toEqual([{ id: 'a', planned: 100, words: 7 }]);
  });
});

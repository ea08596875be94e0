import '../support/fast-check.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/document/format/parse.ts';
import type { Block } from '../../src/document/format/schema.ts';
import { deliveredWords } from '../../src/generation/delivered.ts';
import { cutBlocks, cutQuestions } from '../../src/generation/writing/markdown/cut.ts';
import { questionsIn, shapeQuestions } from '../../src/generation/writing/markdown/faq.ts';
import { readPart } from '../../src/generation/writing/markdown/read.ts';
import { anyMarkdown } from './arbitraries.ts';

const rules = {
  section: { id: 'a', heading: 'Light', level: 2 },
  articles: [],
  earlier: new Set<string>(),
  said: '',
  addresses: new Set<string>(),
};
const blocksOf = (text: string) => readPart(text, rules).blocks;
const shown = (blocks: readonly Block[]) => blocks.map(({ id: _, ...block }) => block);
const p = (text: string) => ({ type: 'paragraph', text });

describe('a part', () => {
  // contract.md G59
  it.each([
    [
      'at the end of a block',
      'One two three four five six seven.\n\nEight nine.',
      8,
      [p('One two three four five six seven.')],
    ],
    ['at the end of a sentence', 'One two. Three four. Five six seven.', 5, [p('One two. Three four.')]],
    [
      'within a sentence when there is no other way',
      'One two three four five six.',
      4,
      [p('One two three four…')],
    ],
    [
      'with its marks',
      '**One two.** Three *four five six.* Seven.',
      6,
      [{ ...p('**One two.** Three *four five six.*'), format: 'markdown' }],
    ],
    [
      'at an item',
      '- one two\n- three four\n- five',
      4,
      [{ type: 'list', ordered: false, items: ['one two', 'three four'] }],
    ],
    [
      'at a row',
      '| a | b |\n|---|---|\n| c | d |\n| e | f |',
      5,
      [{ type: 'table', header: ['a', 'b'], rows: [['c', 'd']] }],
    ],
    [
      'at a line of code',
      '```\none two\nthree four\nfive\n```',
      4,
      [{ type: 'code', text: 'one two\nthree four' }],
    ],
    [
      'without a heading at its end',
      'One two three four.\n\n### Five\n\nSix seven eight nine ten.',
      5,
      [p('One two three four.')],
    ],
    ['a quote to a paragraph', '> One two. Three four five.\n>\n> — Six', 2, [p('One two.')]],
  ])('is cut %s', (_, text, words, expected) => {
    expect(shown(cutBlocks(blocksOf(text), words))).toEqual(expected);
  });

  // contract.md G59
  it('is never longer than its room, is valid and has text, wherever it is cut', () => {
    fc.assert(
      fc.property(anyMarkdown, fc.integer({ min: 1, max: 30 }), (text, words) => {
        const blocks = blocksOf(text);
        const cut = cutBlocks(blocks, words);
        expect(deliveredWords(cut)).toBeLessThanOrEqual(words);
        expect(parseDocument({ version: 1, blocks: cut })).toMatchObject({ ok: true });
        const hasText = blocks.some((block) => block.type !== 'heading' && deliveredWords([block]) > 0);
        if (hasText) expect(cut.some(({ type }) => type !== 'heading')).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('questions', () => {
  const questions = (count: number, words: number) =>
    readPart(
      Array.from(
        { length: count },
        (_, at) => `### Why ${at}?\n\n${`word${at} `.repeat(words).trim()}. More here.`,
      ).join('\n\n'),
      { ...rules, section: { id: ' faq', heading: 'FAQ', level: 2 } },
      { shape: shapeQuestions },
    ).blocks;

  // contract.md G59
  it('are cut whole, and three stay, cut in their responses', () => {
    const five = questions(5, 20);
    expect(questionsIn(cutQuestions(five, 100)).length).toBe(4);
    expect(questionsIn(cutQuestions(five, 75)).length).toBe(3);
    for (const room of [10, 20, 40, 60]) {
      const cut = cutQuestions(five, room);
      expect(questionsIn(cut).map(({ length }) => length)).toEqual([2, 2, 2]);
      expect(deliveredWords(cut)).toBeLessThanOrEqual(room);
    }
  });
});

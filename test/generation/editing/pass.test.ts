import { afterEach, describe, expect, it } from 'vitest';
import type { Block } from '../../../src/document/format/schema.ts';
import { numberDraft, splitDraft } from '../../../src/generation/writing/editing/draft.ts';
import { requestEdits } from '../../../src/generation/writing/editing/request-edits.ts';
import { jsonIn } from '../../support/chat-completions.ts';
import { briefOf, never, outlineOf, prose, startScripted } from '../support.ts';

type Model = Awaited<ReturnType<typeof startScripted>>;
let model: Model;
afterEach(() => model?.close());

const outline = outlineOf('Soil', 'Light');
const paragraph = (id: string, text: string): Block => ({ id, type: 'paragraph', text });
const link = { text: 'mulch', articleId: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11' };
const same = Array.from({ length: 30 }, (_, index) => `word${index}x`);
const parts = [
  {
    id: 'section-1',
    heading: 'Soil',
    planned: 100,
    blocks: [
      paragraph('a', `${same.join(' ')}.`),
      { id: 'b', type: 'code', text: 'let x = 1' },
      { id: 'c', type: 'paragraph', text: 'Use mulch in May.', links: [link] },
    ] as Block[],
  },
  {
    id: 'section-2',
    heading: 'Light',
    planned: 100,
    blocks: [
      paragraph('d', `${same.map((word, index) => (index % 6 === 5 ? 'other' : word)).join(' ')}.`),
      paragraph('e', 'In 2019 roses sold for 37 % more than tulips.'),
    ],
  },
];
const request = (more: Partial<Parameters<typeof requestEdits>[1]> = {}) =>
  requestEdits(model.writer, {
    brief: briefOf({ topic: 'Roses in 2019', primaryKeyword: 'peonies' }),
    outline,
    isApproved: false,
    plan: null,
    parts,
    signal: never,
    ...more,
  });
const edit = (block: number, text: string, reason = 'It repeats.') => ({
  block,
  action: text === '' ? 'delete' : 'replace',
  text,
  reason,
});

describe("the editor's pass", () => {
  // contract.md G71
  it('gets the whole draft with numbers on what it may edit, and what the checks found', async () => {
    model = await startScripted({ edits: [] });
    expect(await request()).toEqual({ edits: [], unusable: 0, unread: 0, correctable: new Map() });
    const lines = jsonIn(model.requests()[0]?.messages[1]?.content ?? '') as Record<string, unknown>[];
    const draft = lines.filter(({ blocks }) => blocks !== undefined);
    expect(draft).toEqual([
      {
        heading: 'Soil',
        blocks: [
          { number: 1, text: `${same.join(' ')}.` },
          { text: '```\nlet x = 1\n```' },
          { number: 2, text: 'Use mulch in May.', linked: ['mulch'] },
        ],
      },
      {
        heading: 'Light',
        blocks: [
          { number: 3, text: expect.any(String) },
          { number: 4, text: expect.any(String) },
        ],
      },
    ]);
    expect(lines.at(-1)?.task).toEqual({
      found: {
        nearCopies: [{ block: 3, of: 1 }],
        unsupportedFigures: [{ block: 4, figure: '37' }],
        keyword: 'No block has the primary keyword.',
      },
    });
  });

  it('gives edits by the ids of blocks, each with a reason of ten words, and keeps the links whose words stay', async () => {
    model = await startScripted({
      edits: [
        edit(2, 'Put **mulch** down in May.', `${'very '.repeat(30)}long`),
        edit(1, ''),
        edit(4, 'Roses sold well.'),
      ],
    });
    const { edits } = await request();
    expect(edits).toEqual([
      {
        blockId: 'c',
        block: { id: 'c', type: 'paragraph', text: 'Put mulch down in May.', links: [link] },
        reason: `${'very '.repeat(10).trim()}…`,
      },
      { blockId: 'a', block: null, reason: 'It repeats.' },
      { blockId: 'e', block: paragraph('e', 'Roses sold well.'), reason: 'It repeats.' },
    ]);
  });

  it.each([
    ['a number that no block has', edit(9, 'New words.')],
    ['no reason', edit(1, 'New words.', ' ')],
    ['a list in place of a paragraph', edit(1, '- one\n- two')],
    ['two paragraphs', edit(1, 'One.\n\nTwo.')],
    ['another language', edit(1, 'Это предложение написано не на том языке. '.repeat(3))],
    ['talk about the response', edit(1, 'As an AI, I cannot write this paragraph.')],
    ['no text', edit(1, '#')],
  ])('passes over an edit with %s, and counts it', async (_, bad) => {
    model = await startScripted({ edits: [bad, edit(2, 'Use mulch in June.')] });
    const { edits, unusable } = await request();
    expect(unusable).toBe(1);
    expect(edits.map(({ blockId }) => blockId)).toEqual(['c']);
  });

  // contract.md G74
  it('is asked again for what is no list of edits, and fails after three calls', async () => {
    model = await startScripted({ nothing: true }, { edits: [] });
    await request();
    expect(model.requests()).toHaveLength(2);
    await model.close();
    model = await startScripted({ nothing: true });
    await expect(request()).rejects.toMatchObject({ kind: 'unusable' });
    expect(model.requests()).toHaveLength(3);
  });

  it('reads halves where the draft is too long, each edit of at most twenty, and keeps the first if the second fails', async () => {
    const long = Array.from({ length: 8 }, (_, index) => ({
      id: `section-${index}`,
      heading: `Part ${index}`,
      planned: 100,
      blocks: [paragraph(`p${index}`, prose(1_000, `rose${index}`))],
    }));
    model = await startScripted({ edits: [edit(1, 'First half.')] }, { nothing: true });
    const { edits, unread } = await request({ parts: long });
    expect(edits.map(({ blockId }) => blockId)).toEqual(['p0']);
    expect(unread).toBe(4);
    const [first, second] = model.requests().map(({ messages }) => messages[1]?.content ?? '');
    expect([first?.includes('Part 3'), first?.includes('Part 4')]).toEqual([true, false]);
    expect([second?.includes('Part 3'), second?.includes('Part 4')]).toEqual([false, true]);
    expect(first).toContain('at most 20 edits');
    expect(model.requests()).toHaveLength(3);
  });

  it('says how many parts nobody reads', () => {
    const { parts: numbered } = numberDraft(parts);
    expect(splitDraft(numbered, 10_000)).toEqual({ readings: [numbered], unread: 0 });
    const sizes = numbered.map((part) => Buffer.byteLength(JSON.stringify(part)) + 1);
    const halves = numbered.map((part) => [part]);
    expect(splitDraft(numbered, Math.max(...sizes))).toEqual({ readings: halves, unread: 0 });
    expect(splitDraft(numbered, Math.min(...sizes)).unread).toBe(1);
    expect(splitDraft(numbered, 1)).toEqual({ readings: [], unread: 2 });
  });
});

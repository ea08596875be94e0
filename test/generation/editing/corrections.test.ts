import '../../support/fast-check.ts';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Block } from '../../../src/document/format/schema.ts';
import { applyEdits } from '../../../src/generation/writing/editing/apply-edits.ts';
import { correctableIn, keepsCitations } from '../../../src/generation/writing/editing/cited-blocks.ts';
import {
  type ContradictedSentence,
  requestCorrections,
} from '../../../src/generation/writing/editing/request-corrections.ts';
import { requestEdits } from '../../../src/generation/writing/editing/request-edits.ts';
import { jsonIn } from '../../support/chat-completions.ts';
import { briefOf, never, outlineOf, prose, startScripted } from '../support.ts';

type Model = Awaited<ReturnType<typeof startScripted>>;
let model: Model;
afterEach(() => model?.close());

const paragraph = (id: string, text: string): Block => ({ id, type: 'paragraph', text });
const part = (id: string, ...blocks: Block[]) => ({ id, heading: `About ${id}`, planned: 100, blocks });
const claim = (blockId: string, sentence: string, notes: number[] = []): ContradictedSentence => ({
  blockId,
  sentence,
  passage: 'It is 20 litres.',
  site: 'one.example',
  notes,
});
const edit = (block: number, text: string) => ({
  block,
  action: text === '' ? 'delete' : 'replace',
  text,
  reason: 'Passage says 20 litres.',
});
const request = (parts: ReturnType<typeof part>[], contradicted: ContradictedSentence[], answered?: number) =>
  requestCorrections(model.writer, {
    brief: briefOf(),
    outline: outlineOf('One'),
    plan: null,
    parts,
    contradicted,
    ...(answered === undefined ? {} : { answered }),
    signal: never,
  });
const asked = () =>
  model.requests().map(({ messages }) => {
    const lines = jsonIn(messages[1]?.content ?? '') as Record<string, unknown>[];
    const draft = lines.filter(({ blocks }) => blocks !== undefined);
    const numbers = draft.flatMap(({ blocks }) =>
      (blocks as { number?: number }[]).flatMap(({ number }) => number ?? []),
    );
    const task = lines.at(-1)?.task as { contradictions: { block: number; sentence: string }[] } | undefined;
    return { headings: draft.map(({ heading }) => heading), numbers, told: task?.contradictions ?? [] };
  });

/** Eight parts that take two readings, each with a contradicted sentence. */
const LONG = Array.from({ length: 8 }, (_, index) =>
  part(
    `p${index}`,
    paragraph(`b${index}`, prose(1_000, `rose${index}`)),
    paragraph(`c${index}`, 'It is 90.'),
  ),
);
const ALL = LONG.map((_, index) => claim(`c${index}`, 'It is 90.'));

// contract.md N33
describe('the second pass over a draft that takes two readings', () => {
  it('tells each reading the contradictions of its own blocks, and takes edits of no block that it has not shown', async () => {
    // The numbers of c0 to c7 are 2, 4, 6 and so on; 1 is not contradicted.
    const edits = [2, 12, 1, 99].map((number) => edit(number, 'It is 20.'));
    model = await startScripted({ edits }, { edits });
    const { edits: taken, unusable, unread } = await request(LONG, ALL);
    const [first, second] = asked();
    expect(first?.told.map(({ block }) => block)).toEqual([2, 4, 6, 8, 10]);
    expect(second?.told.map(({ block }) => block)).toEqual([12, 14, 16]);
    for (const { told, numbers } of asked()) {
      for (const { block } of told) expect(numbers).toContain(block);
    }
    expect(taken.map(({ blockId }) => blockId)).toEqual(['c0', 'c5']);
    expect([unusable, unread]).toEqual([6, 0]);
  });

  it('makes three calls at most, also over earlier attempts, and keeps what the first reading gave', async () => {
    model = await startScripted({ edits: [edit(2, 'It is 20.')] }, { nothing: true });
    const { edits, unread } = await request(LONG, ALL);
    expect([edits.length, unread, asked().length]).toEqual([1, 3, 3]);
    await model.close();
    model = await startScripted({ nothing: true });
    await expect(request(LONG, ALL, 2)).rejects.toMatchObject({ kind: 'unusable' });
    expect(asked()).toHaveLength(1);
  });

  it('has no part that nothing contradicts, and asks nothing where that is all', async () => {
    model = await startScripted({ edits: [] });
    await request(LONG, [claim('c5', 'It is 90.')]);
    expect(asked()).toMatchObject([{ headings: ['About p5'] }]);
    expect(await request(LONG, [])).toMatchObject({ edits: [] });
    expect(asked()).toHaveLength(1);
  });
});

// contract.md G71
it('the first pass takes no edit of a block that its reading has not shown either', async () => {
  model = await startScripted({ edits: [edit(12, 'Other half.')] }, { edits: [edit(12, 'Own half.')] });
  const request = {
    brief: briefOf(),
    outline: outlineOf('One'),
    isApproved: false,
    plan: null,
    parts: LONG,
    signal: never,
  };
  const { edits, unusable } = await requestEdits(model.writer, request);
  expect(edits).toMatchObject([{ blockId: 'c5', block: { text: 'Own half.' } }]);
  expect(unusable).toBe(1);
});

const OLD = 'Plants like the sun [2]. They need 90 litres a week [1]. Nobody knows why.';
const NEED = 'They need 90 litres a week.';

// contract.md N36
describe('a block that cites', () => {
  const cited = [part('p', paragraph('a', OLD))];

  it('is shown to the second pass where what a sentence cites contradicts it, or where it cites nothing', async () => {
    model = await startScripted({ edits: [] });
    await request(cited, [claim('a', NEED, [1]), claim('a', 'Plants like the sun.', [1])]);
    await request(cited, [claim('a', 'Nobody knows why.', [])]);
    expect(asked().map(({ told }) => told.map(({ sentence }) => sentence))).toEqual([
      [NEED],
      ['Nobody knows why.'],
    ]);
    // Another page disagrees with the one that is cited: that is for a person to decide.
    await request(cited, [claim('a', NEED, [2])]);
    expect(asked()).toHaveLength(2);
  });

  const correct = async (text: string, contradicted = [claim('a', NEED, [1])]) => {
    model = await startScripted({ edits: [edit(1, text)] });
    const { edits, correctable } = await request(cited, contradicted);
    const bounds = { least: 0, most: 1_000 };
    const { applied, refused } = applyEdits([cited[0]?.blocks ?? []], edits, bounds, correctable);
    return { applied: applied.length, why: refused.map((each) => each.why), edits: edits.length };
  };

  it('is corrected with its citations as they were', async () => {
    const text = 'Plants like the sun [2]. They need 20 litres a week [1]. Nobody knows why.';
    expect(await correct(text)).toMatchObject({ applied: 1, why: [] });
  });

  it.each([
    ['a number is gone', 'Plants like the sun [2]. They need 20 litres a week. Nobody knows why.'],
    ['a number is new', 'Plants like the sun [2]. They need 20 litres a week [1][3]. Nobody knows why.'],
    [
      'numbers have changed places',
      'Plants like the sun [1]. They need 20 litres a week [2]. Nobody knows why.',
    ],
    [
      'another sentence says something else',
      'Plants hate the sun [2]. They need 20 litres a week [1]. Nobody knows why.',
    ],
    [
      'a number stands behind another sentence',
      'Plants like the sun [2]. They need 20 litres a week. Nobody knows why [1].',
    ],
    ['its sentence is gone, and the number stays', 'Plants like the sun [2]. [1] Nobody knows why.'],
    ['the block is deleted', ''],
  ])('stays as it is where %s', async (_, text) => {
    expect(await correct(text)).toMatchObject({ applied: 0, why: ['protected'] });
  });

  it('brings no address', async () => {
    const text =
      'Plants like the sun [2]. They need [20 litres](https://evil.example) a week [1](https://evil.example). Nobody knows why.';
    model = await startScripted({ edits: [edit(1, text)] });
    const { edits, correctable } = await request(cited, [claim('a', NEED, [1])]);
    const bounds = { least: 0, most: 1_000 };
    const { parts } = applyEdits([cited[0]?.blocks ?? []], edits, bounds, correctable);
    expect(JSON.stringify(parts)).not.toContain('evil.example');
  });

  // contract.md N27
  it('has a figure from nowhere taken out by the first pass, with its citations as they were', async () => {
    const brief = {
      ...briefOf(),
      notes: [{ quote: 'They need 20 litres a week.', title: '', site: '', published: null }],
    };
    const blocks = [paragraph('a', OLD.replaceAll('[2]', '[1]')), paragraph('b', 'Roses like it [1].')];
    model = await startScripted({
      edits: [edit(1, 'Plants like the sun [1]. They need very much water a week [1]. Nobody knows why.')],
    });
    const first = {
      brief,
      outline: outlineOf('One'),
      isApproved: false,
      plan: null,
      parts: [part('p', ...blocks)],
      signal: never,
    };
    const { edits, correctable } = await requestEdits(model.writer, first);
    const lines = jsonIn(model.requests()[0]?.messages[1]?.content ?? '') as { task?: { found?: unknown } }[];
    expect(lines.at(-1)?.task?.found).toMatchObject({ unsupportedFigures: [{ block: 1, figure: '90' }] });
    expect(asked()).toMatchObject([{ numbers: [1] }]);
    const { applied } = applyEdits([blocks], edits, { least: 0, most: 1_000 }, correctable);
    expect(applied).toHaveLength(1);
    const other = { ...edits[0], block: paragraph('a', 'Plants hate it [1]. They need much water [1].') };
    const { refused } = applyEdits(
      [blocks],
      [other as (typeof edits)[0]],
      { least: 0, most: 1_000 },
      correctable,
    );
    expect(refused.map(({ why }) => why)).toEqual(['protected']);
  });

  it('is out of reach of the first pass otherwise', () => {
    const change = { blockId: 'a', block: paragraph('a', OLD.replace('90', '20')), reason: 'Why not.' };
    const { refused } = applyEdits([cited[0]?.blocks ?? []], [change], { least: 0, most: 1_000 });
    expect(refused.map(({ why }) => why)).toEqual(['protected']);
  });

  it('may be a list or a table, whose other items stay', () => {
    const items = (second: string): Block => ({
      id: 'l',
      type: 'list',
      ordered: false,
      items: ['It likes the sun [2].', second, 'It is green.'],
    });
    const old = items('It needs 90 litres [1].');
    const open = correctableIn(old, [{ sentence: 'It needs 90 litres.', notes: [1] }]);
    expect(open).toHaveLength(1);
    expect(keepsCitations(old, items('It needs 20 litres [1].'), open)).toBe(true);
    expect(keepsCitations(old, items('It needs 20 litres.'), open)).toBe(false);
    expect(keepsCitations(old, { ...old, items: ['It needs 20 litres [1].'] } as Block, open)).toBe(false);
  });

  const sentence = fc
    .tuple(fc.constantFrom('Plants like', 'Soil has', 'Rain brings', 'Nobody says'), fc.nat(99), fc.nat(4))
    .map(([words, figure, note]) => `${words} ${figure}${note === 0 ? '' : ` [${note}]`}.`);
  it('keeps, whatever an edit makes of it, its numbers in their order and the sentences that may not be corrected', () => {
    fc.assert(
      fc.property(
        fc.array(sentence, { minLength: 1, maxLength: 5 }),
        fc.array(fc.oneof(sentence, fc.nat(4)), { minLength: 1, maxLength: 6 }),
        fc.nat(4),
        fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }),
        (before, pieces, at, notes) => {
          const after = pieces.map((piece) => (typeof piece === 'number' ? (before[piece] ?? '') : piece));
          const [old, block] = [paragraph('a', before.join(' ')), paragraph('a', after.join(' '))];
          const wrong = (before[at % before.length] ?? '').replace(/ \[\d\]/, '');
          const open = correctableIn(old, [{ sentence: wrong, notes }]);
          if (!keepsCitations(old, block, open)) return;
          const numbers = (text: string): string[] => text.match(/\[\d\]/g) ?? [];
          expect(numbers(after.join(' '))).toEqual(numbers(before.join(' ')));
          const left = [...after];
          for (const kept of before) {
            const isOpen = open.length > 0 && kept.replace(/ \[\d\]/, '') === wrong;
            if (!isOpen) expect(left.splice(0, left.indexOf(kept) + 1)).toContain(kept);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

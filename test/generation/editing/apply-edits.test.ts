import '../../support/fast-check.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../../src/document/format/parse.ts';
import type { Block } from '../../../src/document/format/schema.ts';
import { collectTexts } from '../../../src/document/format/walk.ts';
import { parseInline } from '../../../src/document/inline/parse.ts';
import { deliveredWords } from '../../../src/generation/delivered.ts';
import { applyEdits, type Edit } from '../../../src/generation/writing/editing/apply-edits.ts';
import { anyDocument, markdownText, plainText } from '../../document/arbitraries.ts';

const prose = fc
  .array(fc.constantFrom('roses', 'like', 'sun', '**bold**', 'a [link](https://a.example)', 'x [1]', '庭'), {
    minLength: 1,
    maxLength: 30,
  })
  .map((words) => words.join(' '));
const text = fc.oneof({ weight: 3, arbitrary: prose }, plainText, markdownText);
const field = fc.record({ text, format: fc.constant('markdown' as const) }, { requiredKeys: ['text'] });
const anyBlock: fc.Arbitrary<Omit<Block, 'id'>> = fc.oneof(
  { weight: 5, arbitrary: field.map((fields) => ({ type: 'paragraph' as const, ...fields })) },
  field.map((fields) => ({ type: 'quote' as const, ...fields })),
  fc.array(prose, { maxLength: 3 }).map((items) => ({ type: 'list' as const, ordered: false, items })),
  fc.constant({ type: 'heading' as const, level: 3, text: 'A heading' }),
  fc.constant({ type: 'code' as const, text: 'let roses grow' }),
  anyDocument.map(({ blocks }) => blocks[0] ?? { id: '', type: 'divider' as const }),
);

/** Parts of a valid document, edits that name any of its blocks or none, and a bound. */
const anyEditing = fc
  .record({
    parts: fc.array(fc.array(anyBlock, { maxLength: 5 }), { minLength: 1, maxLength: 4 }),
    edits: fc.array(
      fc.record({ at: fc.nat({ max: 22 }), block: fc.option(anyBlock), sameType: fc.boolean() }),
      { maxLength: 45 },
    ),
    room: fc.integer({ min: -30, max: 60 }),
    least: fc.nat({ max: 60 }),
  })
  .map(({ parts: raw, edits, room, least }) => {
    let next = 0;
    const parts = raw.map((blocks) =>
      blocks.map((block) => {
        next += 1;
        return { ...block, id: `b${next}` } as Block;
      }),
    );
    const words = deliveredWords(parts.flat());
    return {
      parts,
      edits: edits.map(({ at, block, sameType }): Edit => {
        const old = parts.flat()[at - 1];
        const change = sameType && old?.type === 'paragraph' ? { type: 'paragraph', text: 'Short.' } : block;
        return {
          blockId: `b${at}`,
          block: change === null ? null : ({ ...change, id: `b${at}` } as Block),
          reason: 'Repeats.',
        };
      }),
      bounds: { least: words - least, most: words + room },
    };
  })
  .filter(({ parts }) => parseDocument({ version: 1, blocks: parts.flat() }).ok);

const check = (property: (editing: typeof anyEditing extends fc.Arbitrary<infer T> ? T : never) => void) =>
  fc.assert(fc.property(anyEditing, property), { numRuns: 200 });

const isLocked = (block: Block): boolean =>
  ['heading', 'code', 'image', 'divider'].includes(block.type) ||
  (block.type === 'quote' && block.attribution !== undefined) ||
  collectTexts({ version: 1, blocks: [block] }).some(
    ({ text, markdown }) =>
      /\[\d\]/.test(text) || (markdown && parseInline(text).some(({ link }) => link !== null)),
  );

/** Texts between headings: none of these groups may lose its last one. */
const groupsOf = (blocks: readonly Block[]): Block[][] => {
  const groups: Block[][] = [[]];
  for (const block of blocks) {
    if (block.type === 'heading') groups.push([]);
    else if (['paragraph', 'list', 'quote', 'table'].includes(block.type)) groups.at(-1)?.push(block);
  }
  return groups;
};

describe('edits', () => {
  // contract.md G73
  it('touch no block that an applied edit does not name, and keep the order', () => {
    check(({ parts, edits, bounds }) => {
      const { parts: edited, applied } = applyEdits(parts, edits, bounds);
      const byId = new Map(applied.map((edit) => [edit.blockId, edit]));
      expect(byId.size).toBe(applied.length);
      const expected = parts.map((blocks) =>
        blocks.flatMap((block) => {
          const edit = byId.get(block.id);
          return edit === undefined ? block : (edit.block ?? []);
        }),
      );
      expect(edited).toEqual(expected);
    });
  });

  it('touch no heading, code, image, divider or citation, and bring none', () => {
    check(({ parts, edits, bounds }) => {
      const { parts: edited } = applyEdits(parts, edits, bounds);
      expect(edited.flat().filter(isLocked)).toEqual(parts.flat().filter(isLocked));
    });
  });

  it('replace a block by one of its type', () => {
    check(({ parts, edits, bounds }) => {
      const types = new Map(parts.flat().map(({ id, type }) => [id, type]));
      for (const { id, type } of applyEdits(parts, edits, bounds).parts.flat())
        expect(type).toBe(types.get(id));
    });
  });

  it('leave each part, and the text below each heading, at least one block of text', () => {
    check(({ parts, edits, bounds }) => {
      const { parts: edited } = applyEdits(parts, edits, bounds);
      for (const [index, blocks] of parts.entries()) {
        const before = groupsOf(blocks).map((group) => group.length > 0);
        expect(groupsOf(edited[index] ?? []).map((group) => group.length > 0)).toEqual(before);
      }
    });
  });

  it('keep 90 % of the words, never shorten below a bound and never lengthen beyond the other', () => {
    check(({ parts, edits, bounds }) => {
      const before = deliveredWords(parts.flat());
      const after = deliveredWords(applyEdits(parts, edits, bounds).parts.flat());
      expect(after).toBeGreaterThanOrEqual(Math.max(before * 0.9, bounds.least));
      expect(after).toBeLessThanOrEqual(Math.max(before, bounds.most));
    });
  });

  it('leave a valid document', () => {
    check(({ parts, edits, bounds }) => {
      const blocks = applyEdits(parts, edits, bounds).parts.flat();
      expect(parseDocument({ version: 1, blocks })).toMatchObject({ ok: true });
    });
  });

  it('are each applied or refused, at most 40 applied, the same each time', () => {
    check(({ parts, edits, bounds }) => {
      const edited = applyEdits(parts, edits, bounds);
      expect(edited.applied.length + edited.refused.length).toBe(edits.length);
      expect(edited.applied.length).toBeLessThanOrEqual(40);
      expect(applyEdits(parts, edits, bounds)).toEqual(edited);
    });
  });

  it('are applied at least where nothing is against it', () => {
    const block = (id: string, words: number): Block => ({
      id,
      type: 'paragraph',
      text: Array.from({ length: words }, () => 'rose').join(' '),
    });
    const parts = [[block('a', 50), block('b', 5)], [block('c', 45)]];
    const edits: Edit[] = [
      { blockId: 'b', block: null, reason: 'Says what stands above.' },
      { blockId: 'c', block: block('c', 49), reason: 'Lacks an example.' },
    ];
    expect(applyEdits(parts, edits, { least: 0, most: 100 })).toEqual({
      parts: [[block('a', 50)], [block('c', 49)]],
      applied: edits,
      refused: [],
    });
  });

  it.each<[string, Edit['block'], string]>([
    [
      'a link to an article',
      {
        id: 'a',
        type: 'paragraph',
        text: 'New words',
        links: [{ text: 'New', articleId: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11' }],
      },
      'invalid',
    ],
    [
      'an address',
      { id: 'a', type: 'paragraph', text: '[New](https://a.example)', format: 'markdown' },
      'invalid',
    ],
    ['no words', { id: 'a', type: 'paragraph', text: '…' }, 'invalid'],
    ['another id', { id: 'b', type: 'paragraph', text: 'New words' }, 'invalid'],
    ['another type', { id: 'a', type: 'quote', text: 'New words' }, 'invalid'],
    ['what the format forbids', { id: 'a', type: 'paragraph', text: 'a\0b' }, 'invalid'],
    ['the same', { id: 'a', type: 'paragraph', text: 'Old words' }, 'nothing to change'],
    ['nothing, though it is the only one', null, 'last text'],
  ])('with %s are refused alone', (_, block, why) => {
    const parts: Block[][] = [[{ id: 'a', type: 'paragraph', text: 'Old words' }]];
    const edit = { blockId: 'a', block, reason: 'Because.' };
    expect(applyEdits(parts, [edit], { least: 0, most: 100 })).toEqual({
      parts,
      applied: [],
      refused: [{ edit, why }],
    });
  });
});

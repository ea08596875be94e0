import '../../support/fast-check.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block } from '../../../src/document/format/schema.ts';
import { findNearCopies } from '../../../src/generation/writing/editing/near-copies.ts';

let made = 0;
const paragraph = (text: string): Block => {
  made += 1;
  return { id: `p${made}`, type: 'paragraph', text };
};
const words = (count: number, from = 0, name = 'word') =>
  Array.from({ length: count }, (_, index) => `${name}${from + index}`);
const everySixth = (text: readonly string[]) =>
  text.map((word, index) => (index % 6 === 5 ? `other${index}` : word)).join(' ');

describe('near copies', () => {
  // contract.md G72
  it('are paragraphs of two parts of which every sixth word differs', () => {
    const text = words(60);
    const [original, copy] = [paragraph(text.join(' ')), paragraph(everySixth(text))];
    const [found, ...more] = findNearCopies([[original], [paragraph('Short.'), copy]]);
    expect(more).toEqual([]);
    expect(found).toMatchObject({ blockId: copy.id, ofBlockId: original.id });
    expect(found?.share).toBeCloseTo(5 / 6, 1);
  });

  it('are found in a longer paragraph, in other case, with other marks, and in Markdown', () => {
    const text = words(30);
    const long = paragraph([...words(40, 100), ...text, ...words(40, 200)].join(' '));
    const loud: Block = {
      id: 'loud',
      type: 'quote',
      text: `**${text.join(' ').toUpperCase()}**!`,
      format: 'markdown',
    };
    expect(findNearCopies([[long], [loud]])).toEqual([{ blockId: 'loud', ofBlockId: long.id, share: 1 }]);
    expect(findNearCopies([[loud], [long]])).toEqual([{ blockId: long.id, ofBlockId: 'loud', share: 1 }]);
  });

  it.each([
    ['the same part', [[words(30), words(30)]]],
    ['fewer than 25 words', [[words(24)], [words(24)]]],
    ['half of the words', [[words(30)], [[...words(15), ...words(15, 100)]]]],
    ['words in another order', [[words(30)], [words(30).reverse()]]],
  ])('are not paragraphs of %s', (_, parts) => {
    const blocks = parts.map((part) => part.map((text) => paragraph(text.join(' '))));
    expect(findNearCopies(blocks)).toEqual([]);
  });

  it('are compared by characters where a script has no spaces', () => {
    const text =
      '庭のバラは水を好みますが、毎日少しずつ与えるよりも、週に二度たっぷりと与えるほうがよく育ちます。朝のうちに根元へ静かに注いでください。';
    const copy = text.replace('週に二度', '週に三度').replace('静かに', 'ゆっくり');
    const [original, near] = [paragraph(text), paragraph(copy)];
    expect(findNearCopies([[original], [near]])).toMatchObject([
      { blockId: near.id, ofBlockId: original.id },
    ]);
    expect(findNearCopies([[paragraph(text.slice(0, 40))], [paragraph(text.slice(0, 40))]])).toEqual([]);
  });

  it('names of a paragraph that stands in forty sections each copy once', () => {
    const parts = Array.from({ length: 41 }, () => [paragraph(words(30).join(' '))]);
    const found = findNearCopies(parts);
    expect(found.map(({ blockId }) => blockId)).toEqual(parts.slice(1).map(([block]) => block?.id));
  });

  it('are all found: as comparing every pair finds them', () => {
    const anyText = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 20, maxLength: 40 });
    const anyParts = fc.array(fc.array(anyText, { maxLength: 3 }), { maxLength: 4 });
    fc.assert(
      fc.property(anyParts, (texts) => {
        const parts = texts.map((part) => part.map((text) => paragraph(text.join(' '))));
        const found = new Set(findNearCopies(parts).map(({ blockId }) => blockId));
        const flat = texts.flatMap((part, index) =>
          part.map((text, place) => ({ text, part: index, id: parts[index]?.[place]?.id ?? '' })),
        );
        for (const [index, each] of flat.entries()) {
          const isCopy = flat
            .slice(0, index)
            .some((other) => other.part !== each.part && sharedWords(each.text, other.text) >= 0.6);
          expect(found.has(each.id)).toBe(isCopy);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('of the longest article, one phrase for ever, take less than a second', () => {
    const parts = Array.from({ length: 40 }, (_, part) =>
      Array.from({ length: 10 }, (__, index) =>
        paragraph(index % 2 === 0 ? 'the rose grows '.repeat(10) : words(30, part * 300 + index).join(' ')),
      ),
    );
    const start = performance.now();
    expect(findNearCopies(parts)).toHaveLength(40);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

/** Share of the shorter text's words that stand in a trigram of the other; the slow way. */
function sharedWords(one: readonly string[], other: readonly string[]): number {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (short.length < 25) return 0;
  const joined = ` ${long.join(' ')} `;
  const isShared = (at: number) =>
    at >= 0 && at + 3 <= short.length && joined.includes(` ${short.slice(at, at + 3).join(' ')} `);
  return short.filter((_, at) => isShared(at - 2) || isShared(at - 1) || isShared(at)).length / short.length;
}

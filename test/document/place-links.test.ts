import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeField } from '../../src/document/translation/field-codec.ts';
import { widenToFirst } from '../../src/document/translation/place-links.ts';
import { parseTags, serializeTags } from '../../src/document/translation/tags.ts';

const ids = ['a', 'b'].map((digit) => `${digit}aaaaaaa-1111-4111-8111-111111111111`);

/** The links of a text after a translation, by their words. */
function translated(source: string, words: readonly string[], answer: string) {
  const field = encodeField({
    text: source,
    markdown: false,
    links: words.map((text, index) => ({ text, articleId: ids[index] ?? '' })),
  });
  const parsed = parseTags(answer);
  if (!parsed.ok) throw new Error(`${serializeTags(field.nodes)}: ${parsed.problem}`);
  const { text, links = [] } = field.decode(parsed.nodes, new Map());
  return { text, links: links.map((link) => link.text) };
}

describe('a translated link', () => {
  // contract.md V26
  it('lands on its own word, not within another', () => {
    const { text, links } = translated(
      'The craftsman loves art.',
      ['art'],
      'El artesano ama el <a id="1">arte</a>.',
    );
    expect(text).toBe('El artesano ama el arte.');
    expect(links).toEqual(['el arte']);
  });

  // contract.md V26
  it('takes in whole words only, also where it may be no longer', () => {
    const before = 'art craftsman art';
    expect(widenToFirst(before, [{ start: 14, end: 17 }], 8)).toEqual([{ start: 14, end: 17 }]);
    const behind = 'art art craftsman';
    expect(widenToFirst(behind, [{ start: 4, end: 7 }], 6)).toEqual([{ start: 4, end: 7 }]);
    expect(widenToFirst('art 😀𐌰𐌱 art', [{ start: 11, end: 14 }], 7)).toEqual([{ start: 11, end: 14 }]);
    expect(widenToFirst(before, [{ start: 14, end: 17 }], 16)).toEqual([{ start: 4, end: 17 }]);
  });

  it('stays when two links become one word', () => {
    const { links } = translated(
      'Coach and train and more.',
      ['Coach', 'train'],
      '<a id="1">Zug</a> und <a id="2">Zug</a> und mehr.',
    );
    expect(links).toEqual(['Zug', 'und Zug']);
  });

  it('takes in a neighbour where words are written without spaces', () => {
    const { links } = translated('Tea is tea here.', ['tea'], '茶室で<a id="1">茶</a>を飲む。');
    expect(links).toEqual(['茶を']);
  });

  // contract.md V26
  it('is found first where it was put, in any text, if its neighbours can tell it at all', () => {
    const word = fc.constantFrom('arte', 'artesano', 'el', 'de', 'ar', 'casa', 'te', 'la');
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 2, maxLength: 14 }),
        fc.nat(),
        fc.nat(),
        (words, one, other) => {
          const places = [...new Set([one % words.length, other % words.length])].sort((a, b) => a - b);
          const answer = words
            .map((text, index) =>
              places.includes(index) ? `<a id="${places.indexOf(index) + 1}">${text}</a>` : text,
            )
            .join(' ');
          const source = places.map((_, index) => `link${index}`);
          const { text, links } = translated(source.join(' and '), source, answer);
          expect(text).toBe(words.join(' '));
          const startOf = (index: number) => words.slice(0, index).join(' ').length + (index === 0 ? 0 : 1);
          for (const [index, place] of places.entries()) {
            const link = links[index] ?? '';
            const [start, end] = [startOf(place), startOf(place) + (words[place] ?? '').length];
            const found = text.indexOf(link);
            const isThere = found <= start && found + link.length >= end;
            if (isThere) continue;
            // Then no stretch around it, between the other links, occurs there first.
            const from = index === 0 ? 0 : text.indexOf(links[0] ?? '') + (links[0] ?? '').length;
            const to = index === 0 && places.length === 2 ? startOf(places[1] ?? 0) : text.length;
            const most = text.slice(Math.max(0, from), to).trim();
            expect([link, text.indexOf(most) < text.lastIndexOf(most)]).toEqual([words[place], true]);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

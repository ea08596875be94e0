import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkStructure } from '../../src/document/translation/checks/structure.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import { translatePieces } from '../../src/providers/pieces.ts';
import { anySnapshot } from '../document/arbitraries.ts';

it('brings every tag back where it was, whatever an engine makes of the stretches between them', async () => {
  const answer = fc.oneof(
    fc.string(),
    fc.constantFrom('', ' ', 'Wort', '<b id="1">x</b>', '</a>', '<x id="9"/>', '&lt;', '$&', '\n'),
  );
  await fc.assert(
    fc.asyncProperty(anySnapshot, fc.infiniteStream(answer), async (snapshot, answers) => {
      const segments = extractSegments(snapshot).map(({ key, kind, text }) => ({ id: key, kind, text }));
      const asked: string[] = [];
      const translated = await translatePieces(segments, async (texts) => {
        asked.push(...texts);
        return texts.map(() => answers.next().value);
      });
      for (const text of asked) expect(text).not.toMatch(/<|>/);
      for (const { id, text } of segments) {
        const codes = checkStructure(text, translated.get(id) ?? '')
          .filter(({ soft }) => !soft)
          .map(({ code }) => code);
        expect(codes.filter((code) => code !== 'characters' && code !== 'length')).toEqual([]);
      }
    }),
    { numRuns: 200 },
  );
});

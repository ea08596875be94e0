import { expect, it } from 'vitest';
import { outputLimit, STRUCTURED_TOKENS, textTokens } from '../../src/generation/writing/output-tokens.ts';
import { planOutline } from '../../src/generation/writing/plan-outline.ts';
import { writeSection } from '../../src/generation/writing/write-section.ts';
import { briefOf, never, outlineOf, startScripted } from './support.ts';

// contract.md G76
it.each([
  ['en', 2],
  ['pt-BR', 2],
  ['sr-Latn', 2],
  ['ru', 4],
  ['el', 4],
  ['ar', 4],
  ['zh-Hant', 4],
  ['ja', 4],
  ['ko', 8],
  ['th', 8],
])('a text in %s has half more than %i tokens a word, and 500', (language, perWord) => {
  expect(textTokens(300, language)).toBe(1.5 * 300 * perWord + 500);
});

it('thoughts come on top, and the deployment has the last word', () => {
  expect(outputLimit(1_400, { reasoningTokens: 4_096, maxOutputTokens: 16_384 })).toBe(5_496);
  expect(outputLimit(15_000, { reasoningTokens: 4_096, maxOutputTokens: 16_384 })).toBe(16_384);
});

// contract.md G76
it('every call has its limit: a fixed one for an outline, one by its words for a section', async () => {
  const model = await startScripted(
    {},
    {},
    {},
    {
      blocks: [{ type: 'paragraph', text: 'Roses need sun.', links: [] }],
    },
  );
  await expect(planOutline(model.writer, { brief: briefOf(), signal: never })).rejects.toThrow();
  const outline = outlineOf('Soil');
  const request = {
    brief: briefOf({ wordCount: 300 }),
    outline,
    plan: null,
    lead: 0,
    index: 0,
    finished: [],
    articles: [],
    signal: never,
  };
  await writeSection(model.writer, request);
  const limits = model.requests().map((body) => (body as unknown as { max_tokens: number }).max_tokens);
  expect(limits.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => STRUCTURED_TOKENS.outline + 4_096));
  // One word of the 300 is the heading's.
  expect(limits[3]).toBe(textTokens(299, 'en') + 4_096);
});

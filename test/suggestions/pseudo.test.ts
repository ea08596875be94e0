import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameKey } from '../../src/name-key.ts';
import type { ChatResponse } from '../../src/providers/chat-model.ts';
import { countSuggestions, type Question } from '../../src/suggestions/model-questions.ts';
import { createPseudoSuggestions } from '../../src/suggestions/pseudo.ts';
import { checkResponse } from '../../src/suggestions/responses.ts';

const pseudo = createPseudoSuggestions();
const { signal } = new AbortController();
const language = fc.constantFrom('en', 'de', 'ja', 'ar', 'pt-BR', 'tr', 'th');
const text = fc.string({ unit: 'grapheme', maxLength: 120 });
const texts = fc.array(text, { maxLength: 8 });
const name = fc
  .string({ unit: 'grapheme-composite', minLength: 1, maxLength: 20 })
  .map((value) => value.trim())
  .filter((value) => value !== '' && [...value].length <= 80);

const questions: fc.Arbitrary<Question> = fc.oneof(
  fc.record({
    kind: fc.constant('article_categories' as const),
    language,
    title: text,
    keywords: texts,
    text,
    candidates: fc.array(fc.record({ id: fc.uuid(), name }), { maxLength: 12 }),
    carried: fc.array(name, { maxLength: 4 }),
    elsewhere: fc.array(name, { maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('project_categories' as const),
    language,
    titles: texts,
    keywords: texts,
    ideas: fc.array(fc.record({ title: text, keywords: texts }), { maxLength: 4 }),
    taken: fc.array(name, { maxLength: 6 }),
  }),
  fc.record({
    kind: fc.constant('category_names' as const),
    language,
    name,
    targets: fc.uniqueArray(fc.constantFrom('es', 'fr', 'zh-Hans', 'ru'), { minLength: 1 }),
  }),
);

describe('the pseudo provider', () => {
  it('answers any question the same way twice, usably, within every limit, and never with a name that is taken', async () => {
    await fc.assert(
      fc.asyncProperty(questions, async (question) => {
        const answer = await pseudo.suggest({ question, signal });
        expect(await pseudo.suggest({ question, signal })).toEqual(answer);
        const known = question.kind === 'project_categories' ? question.taken : [];
        const taken = new Set(known.map(nameKey));
        const checked = await checkResponse(question, answer, async () => taken);
        if (checked.value === null) {
          for (const { problem } of checked.defects) expect(problem).toMatch(/already|does not have 1 to 80/);
          return;
        }
        const { value: suggestions } = checked;
        expect(countSuggestions(suggestions)).toBeLessThanOrEqual(7);
        if (suggestions.kind === 'category_names') {
          expect(suggestions.names).toHaveLength(
            question.kind === 'category_names' ? question.targets.length : 0,
          );
          for (const each of suggestions.names) expect([...each.name].length).toBeLessThanOrEqual(80);
          return;
        }
        const proposed =
          suggestions.kind === 'project_categories' ? suggestions.categories : suggestions.proposed;
        for (const each of proposed) {
          expect(each.name).toBe(each.name.trim());
          expect([...each.name].length).toBeLessThanOrEqual(80);
          expect([...each.reason].length).toBeLessThanOrEqual(300);
          expect(taken.has(nameKey(each.name))).toBe(false);
        }
        if (suggestions.kind === 'article_categories' && suggestions.existing.length > 0) {
          expect(suggestions.proposed).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('checking an answer', () => {
  it('never throws, whatever JSON a model answers with', async () => {
    await fc.assert(
      fc.asyncProperty(questions, fc.jsonValue(), async (question, answer) => {
        const object = answer as ChatResponse['object'];
        const { value, defects } = await checkResponse(
          question,
          { object, truncated: false },
          async () => new Set(),
        );
        if (value !== null) return;
        expect(defects.length).toBeGreaterThan(0);
        for (const { given = '' } of defects) expect([...given].length).toBeLessThanOrEqual(80);
      }),
      { numRuns: 300 },
    );
  });
});

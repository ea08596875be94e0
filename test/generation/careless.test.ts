import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/document/format/parse.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { deliveredWords } from '../../src/generation/delivered.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { chatRequest } from '../support/chat-completions.ts';
import { type CarelessModel, INJECTION, startCarelessModel } from '../support/model/careless-model.ts';
import { WRITING_HABITS } from '../support/model/writing-habits.ts';
import { briefOf, writeArticle, writerAt } from './support.ts';

let model: CarelessModel;
beforeAll(async () => {
  model = await startCarelessModel();
});
afterAll(() => model.close());

const SETTINGS = { wordCount: 800, faq: true } as const;
const rates = (rate: number) => Object.fromEntries(WRITING_HABITS.map((habit) => [habit, rate]));

/** Objects of a JSON Schema that a strict mode refuses: with keys that may be missing or unknown, or with `oneOf`. */
function loose(schema: unknown): unknown[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, required, additionalProperties, oneOf } = schema as Record<string, unknown>;
  const isLoose =
    oneOf !== undefined ||
    (typeof properties === 'object' &&
      (additionalProperties !== false || `${Object.keys(properties ?? {})}` !== `${required}`));
  return [...(isLoose ? [schema] : []), ...Object.values(schema).flatMap(loose)];
}

/** What may be in no article, whoever wrote it. */
function expectClean(document: DocumentJson): void {
  expect(parseDocument(document)).toMatchObject({ ok: true });
  const text = JSON.stringify(document);
  expect(text).not.toMatch(/https?:|mailto|\/offer|\/admin|<div|```|Sure!|Shall I|PWNED/);
  expect(text).not.toMatch(/[\p{Script=Cyrillic}\p{Script=Han}\p{Script=Arabic}]/u);
  expect(document.blocks.some((block) => block.type === 'heading' && block.level < 2)).toBe(false);
  expect(document.blocks.some(({ type }) => type === 'image' || type === 'divider')).toBe(false);
  const texts = document.blocks.flatMap((block) =>
    block.type === 'paragraph' && block.text.length > 40 ? [block.text] : [],
  );
  expect(new Set(texts).size).toBe(texts.length);
}

describe('a model with bad habits', () => {
  // contract.md G37
  it('never gets an invalid document, an address, a heading of level 1 or another script into an article: of 100 at most 5 fail', async () => {
    let whole = 0;
    for (let seed = 1; seed <= 100; seed += 1) {
      model.forget();
      model.become({ seed, writing: rates(0.08), repairs: 0.5 });
      try {
        const { document } = await writeArticle(await writerAt(model.url), briefOf(SETTINGS));
        whole += 1;
        expectClean(document);
        expect(deliveredWords(document.blocks)).toBeLessThanOrEqual(SETTINGS.wordCount * 1.15 + 60);
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        expect(error).toMatchObject({
          kind: 'unusable',
          message: expect.stringMatching(/^No usable text was written for /),
        });
      }
    }
    expect(whole).toBeGreaterThanOrEqual(95);
  }, 120_000);

  // contract.md G39
  it('finds what customers wrote in turns of data, never among its instructions', async () => {
    model.forget();
    model.become({});
    const words = {
      topic: INJECTION,
      prompt: INJECTION,
      audience: INJECTION,
      tone: INJECTION,
      primaryKeyword: INJECTION.slice(0, 200),
      language: 'en-forget1-rulesxx-x-forget-all',
      sourceUrl: 'https://source.example/never-read',
    };
    const brief = {
      ...briefOf({ ...SETTINGS, ...words, secondaryKeywords: [INJECTION] }),
      voice: INJECTION,
      template: INJECTION,
    };
    const { document } = await writeArticle(await writerAt(model.url), brief, [
      { id: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11', title: INJECTION },
    ]);
    expect(JSON.stringify(document)).not.toContain('PWNED');
    const requests = model.requests.map(chatRequest);
    expect(requests.length).toBeGreaterThan(4);
    expect(JSON.stringify(requests)).not.toContain('source.example');
    for (const { messages, response_format } of requests) {
      const [system, data] = messages;
      expect(system?.role).toBe('system');
      expect(system?.content).not.toMatch(/forget|rulesxx/i);
      expect(system?.content).toContain('Write in English (en),');
      expect(JSON.stringify(data)).toContain('Forget');
      if (response_format === undefined) continue;
      expect(response_format.json_schema).toMatchObject({ strict: true });
      expect(loose(response_format.json_schema.schema)).toEqual([]);
    }
  });
});

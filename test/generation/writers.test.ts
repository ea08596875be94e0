import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createArticleWriters } from '../../src/generation/writing/index.ts';
import { planOutline } from '../../src/generation/writing/plan-outline.ts';
import { chatRequest } from '../support/chat-completions.ts';
import { type CarelessModel, startCarelessModel } from '../support/model/careless-model.ts';
import { briefOf, never } from './support.ts';

let model: CarelessModel;
beforeAll(async () => {
  model = await startCarelessModel();
});
afterAll(() => model.close());

/** The writers of an environment, and the lines that were logged. */
async function start(env: Record<string, string>) {
  const lines: unknown[] = [];
  const write = (...line: unknown[]) => lines.push(line);
  const logger = { info: write, warn: write };
  return { writers: await createArticleWriters(loadConfig(env), logger), lines };
}

it('the writer is pseudo by default, for both qualities', async () => {
  const { writers, lines } = await start({});
  expect([writers.premium.name, writers.standard.name]).toEqual(['pseudo', 'pseudo']);
  expect(lines).toEqual([]);
});

// contract.md G45
it('each quality is written by its model, AI_MODEL where it has none, and a start with one for both says so', async () => {
  const base = {
    GENERATION_PROVIDER: 'openai-compatible',
    AI_BASE_URL: `${model.url}/v1`,
    AI_MODEL: 'usual',
  };
  const cases = [
    [{}, 'usual', 'usual', 1],
    [{ AI_MODEL_PREMIUM: 'best' }, 'best', 'usual', 0],
    [{ AI_MODEL_STANDARD: 'cheap' }, 'usual', 'cheap', 0],
    [{ AI_MODEL_PREMIUM: 'best', AI_MODEL_STANDARD: 'best' }, 'best', 'best', 1],
  ] as const;
  for (const [tiers, premium, standard, logged] of cases) {
    const { writers, lines } = await start({ ...base, ...tiers });
    expect(lines).toHaveLength(logged);
    model.forget();
    for (const writer of [writers.premium, writers.standard]) {
      expect(writer.name).toBe('openai-compatible');
      await planOutline(writer, { brief: briefOf(), signal: never });
    }
    expect(model.requests.map((request) => chatRequest(request).model)).toEqual([premium, standard]);
  }
});

// contract.md G82
it('a start with AI_MODEL whose articles pseudo writes all the same says so', async () => {
  const { writers, lines } = await start({ AI_BASE_URL: model.url, AI_MODEL: 'usual' });
  expect(writers.premium.name).toBe('pseudo');
  expect(lines).toEqual([[expect.stringContaining('GENERATION_PROVIDER')]]);
});

it('a writer that lacks what it needs stops the start, naming it', () => {
  const start = () => loadConfig({ GENERATION_PROVIDER: 'openai-compatible' });
  for (const name of ['AI_BASE_URL', 'AI_MODEL']) {
    expect(start).toThrow(`${name}: needed by GENERATION_PROVIDER=openai-compatible`);
  }
  expect(() => loadConfig({ GENERATION_PROVIDER: 'ghostwriter' })).toThrow('GENERATION_PROVIDER');
});

it('thoughts that leave no room for a text stop the start', () => {
  const start = (reasoning: string) =>
    loadConfig({ AI_REASONING_TOKENS: reasoning, AI_MAX_OUTPUT_TOKENS: '4000' });
  expect(start('3999').AI_REASONING_TOKENS).toBe(3_999);
  expect(() => start('4000')).toThrow('AI_REASONING_TOKENS: expected fewer than AI_MAX_OUTPUT_TOKENS');
});

// contract.md G68
it('a context too small for an article stops the start', () => {
  const start = (tokens: string) => loadConfig({ AI_CONTEXT_TOKENS: tokens });
  expect(loadConfig({}).AI_CONTEXT_TOKENS).toBe(32_000);
  expect(start('8000').AI_CONTEXT_TOKENS).toBe(8_000);
  expect(() => start('7999')).toThrow(
    'AI_CONTEXT_TOKENS: expected a whole number in decimal digits, from 8000',
  );
});

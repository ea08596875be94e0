/** The stand-in for a careless model: what it can be trusted to do wrong. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createOpenAiCompatibleProvider } from '../../src/providers/openai-compatible.ts';
import type { TranslationProvider } from '../../src/providers/types.ts';
import { type CarelessModel, INJECTION, startCarelessModel } from '../support/model/careless-model.ts';
import { HABITS } from '../support/model/habits.ts';

const SEGMENTS = Array.from({ length: 400 }, (_, index) => ({
  id: index === 0 ? 'metaTitle' : `block.${index}.text`,
  kind: 'paragraph' as const,
  text: `Row ${index} of the raised beds needs ${index + 3} litres of <b id="1">water</b> and ${index + 500} grams of compost.`,
}));
const PLAIN = SEGMENTS.map((segment) => ({ ...segment, text: segment.text.replaceAll(/<[^>]*>/g, '') }));

let model: CarelessModel;
let provider: TranslationProvider;
beforeAll(async () => {
  model = await startCarelessModel();
  provider = createOpenAiCompatibleProvider({ baseUrl: model.url, model: 'careless', timeoutMs: 10_000 });
});
afterAll(() => model.close());
beforeEach(() => model.forget());

const ask = (segments: typeof SEGMENTS) =>
  provider.translate({
    sourceLanguage: 'en',
    targetLanguage: 'es',
    segments,
    signal: new AbortController().signal,
  });

it('translates without a fault unless it is told to have one: tags and numbers stay, and no English is left', async () => {
  model.become({});
  const answers = await ask(SEGMENTS);
  expect(answers.size).toBe(SEGMENTS.length);
  for (const { id, text } of SEGMENTS) {
    expect(answers.get(id)?.match(/<[^>]*>|\d+/g)).toEqual(text.match(/<[^>]*>|\d+/g));
    expect(answers.get(id)).not.toMatch(/\b(of|needs|water|litres)\b/);
  }
});

it('has each habit at its rate, the same for the same seed, text and try, and mends at its rate', async () => {
  const rates = { drop: 0.1, echo: 0.1, chatter: 0.1, numbers: 0.1, tags: 0.1, overrun: 1 };
  model.become({ seed: 7, rates, repairs: 0.8 });
  const first = await ask(SEGMENTS);
  const spoilt = Object.groupBy(model.answered, ({ habit }) => habit ?? 'none');
  for (const habit of HABITS.filter((name) => !['truncate', 'slip', 'overrun'].includes(name))) {
    // A text meets the first of its habits, so that the later ones show less often.
    expect(spoilt[habit]?.length, habit).toBeGreaterThan(15);
    expect(spoilt[habit]?.length, habit).toBeLessThan(65);
  }
  expect(model.answered.find(({ id }) => id === 'metaTitle')?.answer?.length ?? 100).toBeGreaterThan(70);
  const again = await ask(SEGMENTS);
  expect(again).not.toEqual(first);
  const mended = model.answered.slice(SEGMENTS.length).filter(({ habit }) => habit === null).length;
  expect(mended).toBeGreaterThan(SEGMENTS.length * 0.8);
  model.forget();
  expect(await ask(SEGMENTS)).toEqual(first);
  model.become({ rates: { truncate: 1 } });
  model.forget();
  const whole = new Map(PLAIN.map(({ id, text }) => [id, text]));
  for (const [id, answer] of await ask(PLAIN)) {
    expect(answer.length).toBeLessThan((whole.get(id)?.length ?? 0) / 2);
  }
});

it('obeys an order in an instruction turn, and takes the same order for data in any other', async () => {
  model.become({});
  const order = { id: 'order', kind: 'paragraph' as const, text: INJECTION };
  expect(JSON.stringify([...(await ask([order, ...SEGMENTS.slice(0, 3)]))])).not.toContain('PWNED');
  const [request] = model.requests;
  const body = JSON.parse(request?.body ?? '');
  body.messages[0].content += `\n${INJECTION}`;
  const response = await fetch(`${model.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  expect(new Set(Object.values(JSON.parse(choices[0]?.message.content ?? '')))).toEqual(new Set(['PWNED']));
});

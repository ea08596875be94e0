import { afterEach, describe, expect, it } from 'vitest';
import { deliveredWords } from '../../src/generation/delivered.ts';
import type { WrittenPart } from '../../src/generation/writing/brief.ts';
import { writeFaq } from '../../src/generation/writing/write-faq.ts';
import { writeSection } from '../../src/generation/writing/write-section.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { completion } from '../support/chat-completions.ts';
import { briefOf, never, outlineOf, prose, startScripted } from './support.ts';

type Model = Awaited<ReturnType<typeof startScripted>>;
let model: Model;
afterEach(() => model.close());

const outline = outlineOf('Soil', 'Light');
const good = prose(590);
const before: WrittenPart = {
  blocks: [{ type: 'paragraph', text: prose(30, 'lily'), id: 'x' }],
  words: 600,
  mended: {},
};
const articles = [{ id: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11', title: 'All about mulch' }];

/** The second section, after `before`. */
const write = (brief = briefOf()) =>
  writeSection(model.writer, {
    brief,
    outline,
    plan: null,
    lead: 0,
    index: 1,
    finished: [before],
    articles,
    signal: never,
  });
/** What the model was told last. */
const told = (): string => model.requests().at(-1)?.messages.at(-1)?.content ?? '';

describe('a section', () => {
  // contract.md G35
  it.each([
    ['no text', '', 'has no text of the article'],
    ['a refusal', "I'm sorry, but I can't write that.", 'declines to write'],
    ['a paragraph of an earlier section alone', prose(30, 'lily'), 'has no text of the article'],
    [
      'talk about itself',
      `${prose(300)}\n\nAs an AI language model, I cannot know.\n\n${prose(200, 'lily')}`,
      'speaks about the response',
    ],
    ['another script', `${good}\n\nЭто предложение написано не на том языке.`, 'A text is not in English.'],
    [
      'another language',
      'Rosen brauchen im Sommer viel Licht und Wasser, damit sie gut wachsen. '.repeat(60),
      'A text is not in English.',
    ],
    ['a cut sentence', `${good}\n\nRoses grow best where the`, 'ends in the middle of a sentence'],
    ['a response cut off', completion(good, { finishReason: 'length' }), 'cut off at its length limit'],
    ['white space without end', ' \n'.repeat(250_000), 'has no text of the article'],
  ])('with %s is asked for again, with what is wrong', async (_, bad, problem) => {
    model = await startScripted(bad, good);
    const { blocks } = await write();
    expect(model.requests()).toHaveLength(2);
    expect(told()).toContain(problem);
    expect(blocks).toEqual([{ id: expect.any(String), type: 'paragraph', text: good }]);
  });

  // contract.md G37
  it('fails after three responses that cannot be used, saying to people what was wrong', async () => {
    model = await startScripted("I'm sorry, but I can't write that.");
    const failure = await write().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure).toMatchObject({
      kind: 'unusable',
      message:
        'No usable text was written for the section “Light”: the model declined to write it. Try again, or change the topic or the prompt.',
    });
    expect(model.requests()).toHaveLength(3);
  });

  it.each([
    ['refused', completion(null, { refusal: 'No.', finishReason: 'content_filter' })],
    ['retryable', { status: 503, body: {} }],
    ['misconfigured', { status: 401, body: {} }],
  ])('is not asked for again when the model itself fails: %s', async (kind, failure) => {
    model = await startScripted(failure);
    await expect(write()).rejects.toMatchObject({ name: 'ProviderError', kind });
    expect(model.requests()).toHaveLength(1);
  });

  // contract.md G57
  it('is mended without a call: what may not stay goes, is counted, and never saved', async () => {
    const text = [
      'Sure! Here is the section:',
      '# Light',
      'Roses like *full* light, says [a shop](https://spam.example/offer).',
      '1. Sun\n2. **Shade**',
      '#### In winter',
      `${good} See [mulch](article:1) and https://spam.example/offer, or Booking.com.`,
      '> Roses are red.',
      prose(30, 'lily'),
    ].join('\n\n');
    model = await startScripted(text);
    const { blocks, mended } = await write();
    expect(model.requests()).toHaveLength(1);
    expect(blocks.map(({ id: _, ...block }) => block)).toEqual([
      { type: 'paragraph', text: 'Roses like *full* light, says a shop.', format: 'markdown' },
      { type: 'list', ordered: true, items: ['Sun', '**Shade**'], format: 'markdown' },
      { type: 'heading', level: 3, text: 'In winter' },
      {
        type: 'paragraph',
        text: `${good} See mulch and spam.example, or Booking.com.`,
        links: [{ text: 'mulch', articleId: articles[0]?.id }],
      },
      { type: 'paragraph', text: 'Roses are red.' },
    ]);
    expect(mended).toEqual({ address: 1, chatter: 1, heading: 1, link: 1, quote: 1, repeated: 1 });
    const { blocks: again } = await write();
    expect(again.map(({ id }) => id)).toEqual(blocks.map(({ id }) => id));
  });

  // contract.md G57
  it('keeps an address that the customer wrote, wherever they wrote it', async () => {
    const text = `${good} See https://shop.example/roses.`;
    model = await startScripted(text);
    expect((await write()).mended).toEqual({ address: 1 });
    expect(await write(briefOf({ prompt: 'Name https://shop.example/roses too.' }))).toMatchObject({
      blocks: [{ text }],
      mended: {},
    });
    expect((await write({ ...briefOf(), template: 'End with shop.example/roses' })).mended).toEqual({});
  });

  // contract.md G38
  it('that is too short is asked for again once, and the nearer of the two is taken', async () => {
    model = await startScripted(prose(300), prose(200));
    expect(await write()).toMatchObject({ words: 300 });
    expect(told()).toMatch(/The text has 300 words\. It should have \d+ words\./);
    expect(model.requests()).toHaveLength(2);
  });

  it.each([
    ['is away', { status: 503, body: {} }],
    ['declines', completion(null, { refusal: 'No.', finishReason: 'content_filter' })],
  ])('that is too short is taken as it is when the model %s as it is asked again', async (_, none) => {
    model = await startScripted(prose(300), none);
    expect((await write()).words).toBe(300);
    expect(model.requests()).toHaveLength(2);
  });

  // contract.md G59
  it.each([
    ['of many paragraphs', Array.from({ length: 12 }, (_, index) => prose(300, `rose${index}`)).join('\n\n')],
    [
      'of one paragraph',
      Array.from({ length: 300 }, (_, index) => `The rose number ${index} grows very well here.`).join(' '),
    ],
    ['of one sentence', prose(3_000)],
    ['of code', `\`\`\`\n${'let rose = 1;\n'.repeat(2_000)}\`\`\``],
  ])('that is too long is cut without a call: %s', async (_, text) => {
    model = await startScripted(text);
    const { blocks, words, mended } = await write();
    expect(model.requests()).toHaveLength(1);
    expect(words).toBe(deliveredWords(blocks));
    expect(words).toBeGreaterThan(500);
    expect(words).toBeLessThanOrEqual(600 * 1.15);
    expect(mended).toEqual({ cut: 1 });
  });
});

describe('the questions', () => {
  const half = { ...before, words: 474 };
  const faq = () =>
    writeFaq(model.writer, {
      brief: briefOf({ faq: true }),
      outline,
      plan: null,
      lead: 0,
      finished: [half, half],
      signal: never,
    });
  const questions = (count: number, words = 75) =>
    Array.from(
      { length: count },
      (_, index) => `### What about ${index}?\n\n${prose(words, `rose${index}`)}`,
    ).join('\n\n');

  // contract.md G41
  it('are 3 to 5, each a heading of level 3 with its answer', async () => {
    model = await startScripted(questions(2, 120), questions(3));
    const { blocks } = await faq();
    expect(told()).toContain('There are 2 questions. There should be 3 to 5');
    expect(blocks.map((block) => (block.type === 'heading' ? block.level : block.type))).toEqual([
      3,
      'paragraph',
      3,
      'paragraph',
      3,
      'paragraph',
    ]);
    await model.close();
    model = await startScripted(`Some words first.\n\n${questions(7, 40)}`);
    const { blocks: few, mended } = await faq();
    expect(few).toHaveLength(10);
    expect(mended).toEqual({ shape: 1 });
  });

  it.each([
    [
      'twice the same',
      `${questions(2, 110)}\n\n### What about 1?\n\n${prose(40, 'lily')}`,
      'There are 2 questions',
    ],
    ['no answer', `${questions(2, 110)}\n\n### Where?`, 'There are 2 questions'],
  ])('with %s are asked for again', async (_, bad, problem) => {
    model = await startScripted(bad, questions(4, 55));
    expect((await faq()).blocks).toHaveLength(8);
    expect(told()).toContain(problem);
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import type { Block } from '../../src/document/format/schema.ts';
import { writeFaq } from '../../src/generation/writing/write-faq.ts';
import { writeSection } from '../../src/generation/writing/write-section.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { completion } from '../support/chat-completions.ts';
import { briefOf, never, outlineOf, paragraph, prose, startScripted } from './support.ts';

type Model = Awaited<ReturnType<typeof startScripted>>;
let model: Model;
afterEach(() => model.close());

const outline = outlineOf('Soil', 'Light');
const good = { blocks: [paragraph(prose(600))] };
const before = { blocks: [{ ...paragraph(prose(30, 'lily')), id: 'x' } as Block], words: 600, asked: 600 };
const articles = [{ id: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11', title: 'All about mulch' }];

/** The second section, after `before`. */
const write = (brief = briefOf()) =>
  writeSection(model.writer, {
    brief,
    outline,
    plan: null,
    index: 1,
    finished: [before],
    articles,
    signal: never,
  });
/** What the model was told last. */
const told = (): string => model.requests().at(-1)?.messages.at(-1)?.content ?? '';
const rest = paragraph(prose(600));

describe('a section', () => {
  // contract.md G35
  it.each([
    ['no blocks', { blocks: [] }, 'The section has no text.'],
    [
      'an empty list',
      { blocks: [{ type: 'list', ordered: false, items: [] }, rest] },
      'A list has no items.',
    ],
    [
      'a heading of level 1',
      { blocks: [{ type: 'heading', level: 1, text: 'Roses' }, rest] },
      'A heading of level 1 is not allowed here, only of level 3.',
    ],
    [
      "a heading of the section's own level",
      { blocks: [{ type: 'heading', level: 2, text: 'Roses' }, rest] },
      'A heading of level 2 is not allowed here',
    ],
    [
      'a heading in Markdown',
      { blocks: [paragraph(`# Roses\n\n${prose(600)}`)] },
      'A text has a Markdown heading',
    ],
    [
      'a heading at its end',
      { blocks: [rest, { type: 'heading', level: 3, text: 'Next' }] },
      'no text below the last heading',
    ],
    [
      'two headings in a row',
      {
        blocks: [3, 3]
          .map((level, at) => ({ type: 'heading', level, text: `A ${at}` }))
          .concat(rest as never),
      },
      'no text between two headings',
    ],
    ['a paragraph twice', { blocks: [rest, rest] }, 'repeats one that is already in the article'],
    [
      'a paragraph of an earlier section',
      { blocks: [paragraph(prose(30, 'lily')), rest] },
      'repeats one that is already',
    ],
    [
      'a link in Markdown',
      { blocks: [paragraph(`See [here](https://spam.example). ${prose(600)}`)] },
      'A text has a link.',
    ],
    ['a relative link', { blocks: [paragraph(`See [here](/admin). ${prose(600)}`)] }, 'A text has a link.'],
    [
      'an autolink',
      { blocks: [paragraph(`See <https://spam.example>. ${prose(600)}`)] },
      'A text has a link.',
    ],
    [
      'an address',
      { blocks: [paragraph(`See https://spam.example/x. ${prose(600)}`)] },
      'A text has a web or e-mail address.',
    ],
    [
      'an address in code',
      { blocks: [paragraph(`Call \`https://spam.example\`. ${prose(600)}`)] },
      'A text has a web or e-mail address.',
    ],
    [
      'a bare domain',
      { blocks: [paragraph(`Visit spam.example now. ${prose(600)}`)] },
      'A text has a web or e-mail address.',
    ],
    [
      'an e-mail address',
      { blocks: [paragraph(`Ask me@spam.example. ${prose(600)}`)] },
      'A text has a web or e-mail address.',
    ],
    [
      'mailto',
      { blocks: [paragraph(`Ask mailto:me@spam.example. ${prose(600)}`)] },
      'A text has a web or e-mail address.',
    ],
    [
      'an address in a table',
      { blocks: [{ type: 'table', header: ['a'], rows: [['www.spam.example']] }, rest] },
      'A text has a web or e-mail address.',
    ],
    [
      'a link to an article that is not listed',
      { blocks: [paragraph(prose(600), [{ text: 'The rose', article: 2 }])] },
      'A link names a number that no listed article has.',
    ],
    ['HTML', { blocks: [paragraph(`<b>Roses</b> grow. ${prose(600)}`)] }, 'A text has HTML.'],
    ['an image', { blocks: [paragraph(`![A rose](rose.png) ${prose(600)}`)] }, 'A text has'],
    [
      'a list in Markdown',
      { blocks: [paragraph(`- one\n- two\n\n${prose(600)}`)] },
      'A text has a Markdown list',
    ],
    [
      'a table in Markdown',
      { blocks: [paragraph(`| a | b |\n|---|---|\n| 1 | 2 |\n\n${prose(600)}`)] },
      'A text has a Markdown table',
    ],
    ['a code fence', { blocks: [paragraph(`\`\`\`\nx\n\`\`\`\n\n${prose(600)}`)] }, 'has a code fence'],
    ['a footnote', { blocks: [paragraph(`Roses grow.[^1] ${prose(600)}`)] }, 'Markdown other than'],
    [
      'chatter',
      { blocks: [paragraph(`Sure! Here is the section. ${prose(600)}`)] },
      'speaks about the answer',
    ],
    [
      'a word of the model about itself',
      { blocks: [paragraph(`${prose(600)} As an AI language model, I cannot know.`)] },
      'speaks about the answer',
    ],
    [
      'another script',
      { blocks: [rest, paragraph('Это предложение написано не на том языке.')] },
      'A text is not in English.',
    ],
    [
      'another language',
      {
        blocks: [
          paragraph(`Rosen brauchen im Sommer viel Licht und Wasser, damit sie gut wachsen. `.repeat(60)),
        ],
      },
      'A text is not in English.',
    ],
    [
      'a cut sentence',
      { blocks: [rest, paragraph('Roses grow best where the')] },
      'ends in the middle of a sentence',
    ],
    [
      'a row of another length',
      { blocks: [{ type: 'table', header: ['a', 'b'], rows: [['1']] }, rest] },
      'does not have the 2 cells',
    ],
    [
      'white space without end',
      completion(`\`\`\`json${' '.repeat(500_000)}`),
      'The answer was not a JSON object.',
    ],
    [
      'empty lines without end',
      { blocks: [{ type: 'quote', text: `${'\n'.repeat(300_000)}Roses.` }, rest] },
      'A text has more than 20000 characters.',
    ],
    ['another shape', { blocks: [{ type: 'image', url: 'x' }] }, 'blocks.0.type'],
    ['no object', completion('I would rather not.'), 'The answer was not a JSON object.'],
    [
      'an answer cut off',
      completion(JSON.stringify(good), { finishReason: 'length' }),
      'cut off at its length limit',
    ],
  ])('with %s is asked for again, with what is wrong', async (_, bad, problem) => {
    model = await startScripted(bad, good);
    const { blocks, asked } = await write();
    expect(model.requests()).toHaveLength(2);
    expect(told()).toContain(problem);
    expect(blocks).toEqual([{ id: expect.any(String), type: 'paragraph', text: prose(600) }]);
    expect(asked).toBeGreaterThan(1_000);
  });

  // contract.md G37
  it('fails after three answers that cannot be used, saying to people what was wrong', async () => {
    model = await startScripted({ blocks: [paragraph(`Visit spam.example. ${prose(600)}`)] });
    const failure = await write().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure).toMatchObject({
      kind: 'unusable',
      message:
        'No usable text was written for the section “Light”: it had web or e-mail addresses. Try again, or change the topic or the prompt.',
    });
    expect(model.requests()).toHaveLength(3);
  });

  it('is not asked for again once all calls have asked for twice wordCount', async () => {
    model = await startScripted({ blocks: [] });
    const spent = { ...before, asked: 1_800 };
    const request = {
      brief: briefOf(),
      outline,
      plan: null,
      index: 1,
      finished: [spent],
      articles,
      signal: never,
    };
    await expect(writeSection(model.writer, request)).rejects.toThrow('a part of it was empty');
    expect(model.requests()).toHaveLength(1);
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

  it('is mended without a call where that is safe: its own heading, bullets of items, links whose words are not there', async () => {
    model = await startScripted({
      blocks: [
        { type: 'heading', level: 1, text: '**Light**' },
        paragraph(`## Light\n\nRoses like *full* light.`, [{ text: 'gone', article: 1 }]),
        { type: 'list', ordered: true, items: ['1. Sun', '2. **Shade**'] },
        { type: 'heading', level: 4, text: 'In winter' },
        paragraph(prose(590), [{ text: 'rose', article: 1 }]),
      ],
    });
    const { blocks } = await write();
    expect(model.requests()).toHaveLength(1);
    expect(blocks.map(({ id: _, ...block }) => block)).toEqual([
      { type: 'paragraph', text: 'Roses like *full* light.', format: 'markdown' },
      { type: 'list', ordered: true, items: ['Sun', '**Shade**'], format: 'markdown' },
      { type: 'heading', level: 3, text: 'In winter' },
      { type: 'paragraph', text: prose(590), links: [{ text: 'rose', articleId: articles[0]?.id }] },
    ]);
    const { blocks: again } = await write();
    expect(again.map(({ id }) => id)).toEqual(blocks.map(({ id }) => id));
  });

  // contract.md G38
  it('of another length is asked for again once, and the nearer of the two is taken', async () => {
    model = await startScripted({ blocks: [paragraph(prose(300))] }, { blocks: [paragraph(prose(200))] });
    expect(await write()).toMatchObject({ words: 300 });
    expect(told()).toMatch(/The text has 300 words\. It should have \d+ words\./);
    expect(model.requests()).toHaveLength(2);
  });

  it.each([
    ['is away', { status: 503, body: {} }],
    ['declines', completion(null, { refusal: 'No.', finishReason: 'content_filter' })],
  ])('of another length is taken as it is when the model %s as it is asked again', async (_, none) => {
    model = await startScripted({ blocks: [paragraph(prose(300))] }, none);
    const { words, asked } = await write();
    expect(words).toBe(300);
    expect(asked).toBeLessThan(1_000);
    expect(model.requests()).toHaveLength(2);
  });

  it('that is far too long loses its last blocks', async () => {
    const blocks = Array.from({ length: 12 }, (_, index) => paragraph(prose(300, `rose${index}`)));
    model = await startScripted({ blocks });
    const { words } = await write();
    expect(words).toBeGreaterThan(590);
    expect(words).toBeLessThanOrEqual(1_300);
  });

  // contract.md G36
  it('may name a host that the customer named, and no other', async () => {
    const text = `With Socket.io messages arrive at once. ${prose(600)}`;
    model = await startScripted({ blocks: [paragraph(text)] });
    await expect(write(briefOf({ topic: 'What Socket.io is for' }))).resolves.toMatchObject({
      asked: expect.any(Number),
    });
    await expect(write()).rejects.toThrow('it had web or e-mail addresses');
  });

  // contract.md G36
  it.each([
    ['What lorem ipsum is for', 'Lorem ipsum is a text without a meaning.'],
    ['A letter that begins with [your name]', 'Write [your name] at the top.'],
  ])('may speak of what the customer has it written about: %s', async (topic, text) => {
    model = await startScripted({ blocks: [paragraph(`${text} ${prose(600)}`)] });
    await expect(write(briefOf({ topic }))).resolves.toMatchObject({ asked: expect.any(Number) });
    await expect(write()).rejects.toThrow('it spoke about itself');
  });

  it.each([
    'Node.js, ASP.NET and the file README.md are names. So is `regex.test(x)`, e.g. in v1.2.3.',
    'The word sure is used a lot. Here is what you need: a spade, and/or a fork. It costs 3 < 5 and 7 > 6 euros.',
    'Of course roses need light! In the 1990s. They were the first to say so.',
    'Use `<b>` and `[a](b)` in code. “Why?” she asked. See chapter 3 (p. 12).',
  ])('may say: %s', async (text) => {
    model = await startScripted({ blocks: [paragraph(`${text} ${prose(590)}`)] });
    await write();
    expect(model.requests()).toHaveLength(1);
  });
});

const half = { ...before, words: 474 };

describe('the questions', () => {
  const faq = () =>
    writeFaq(model.writer, {
      brief: briefOf({ faq: true }),
      outline,
      plan: null,
      finished: [half, half],
      signal: never,
    });
  const questions = (count: number) => ({
    questions: Array.from({ length: count }, (_, index) => ({
      question: `What about ${index}?`,
      answer: prose(75, `rose${index}`),
    })),
  });

  it('are 3 to 5, each a heading of level 3 with its answer', async () => {
    model = await startScripted(questions(2), questions(3));
    const { blocks } = await faq();
    expect(told()).toContain('There are 2 questions. There should be 3 to 5.');
    expect(blocks.map((block) => (block.type === 'heading' ? block.level : block.type))).toEqual([
      3,
      'paragraph',
      3,
      'paragraph',
      3,
      'paragraph',
    ]);
  });

  it.each([
    [
      'twice the same',
      {
        questions: Array.from({ length: 3 }, (_, index) => ({
          question: 'Why?',
          answer: prose(75, `a${index}`),
        })),
      },
      'A heading occurs twice',
    ],
    [
      'an address',
      { questions: [...questions(2).questions, { question: 'Where?', answer: 'At spam.example.' }] },
      'A text has a web or e-mail address',
    ],
    [
      'no answer',
      { questions: [...questions(2).questions, { question: 'Where?', answer: '' }] },
      'no text below the last heading',
    ],
  ])('with %s are asked for again', async (_, bad, problem) => {
    model = await startScripted(bad, questions(4));
    expect((await faq()).blocks).toHaveLength(8);
    expect(told()).toContain(problem);
  });
});

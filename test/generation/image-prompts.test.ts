import '../support/fast-check.ts';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_ALT_TEXT } from '../../src/document/format/schema.ts';
import { codePoints } from '../../src/document/text/characters.ts';
import type { ArticleSoFar } from '../../src/generation/writing/brief.ts';
import { placeImages, settlePlaces } from '../../src/generation/writing/place-images.ts';
import { createPseudoWriter } from '../../src/generation/writing/pseudo.ts';
import {
  type ImagePrompt,
  type ImagePromptsRequest,
  MAX_IMAGE_PROMPT,
  requestImagePrompts,
} from '../../src/generation/writing/request-image-prompts.ts';
import type { ArticleWriter } from '../../src/generation/writing/writer.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { anyText } from '../support/any-text.ts';
import { startCarelessModel } from '../support/model/careless-model.ts';
import { WRITING_HABITS } from '../support/model/writing-habits.ts';
import { briefOf, never, outlineOf, prose, startScripted, writerAt } from './support.ts';

const closing: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of closing.splice(0)) await each.close();
});
const scripted = async (...answers: readonly (string | object)[]) => {
  const model = await startScripted(...answers);
  closing.push(model);
  return model;
};

const HEADINGS = ['Soil', 'Light', 'Water', 'Frost'];
/** A finished article; sections named in `empty` are left out of it. */
const articleOf = (empty: readonly string[] = []): ArticleSoFar => ({
  outline: outlineOf(...HEADINGS),
  plan: null,
  finished: HEADINGS.map((heading, index) => ({
    blocks: empty.includes(heading)
      ? []
      : [
          {
            id: `b${index}`,
            type: 'paragraph',
            text: `${heading}: ${prose(30, heading.toLowerCase())} It took 14 days.`,
          },
        ],
    words: 30,
    mended: {},
  })),
  faq: { blocks: [{ id: 'q', type: 'paragraph', text: 'How often?' }], words: 2, mended: {} },
});
const requestOf = (changes: Partial<ImagePromptsRequest> = {}): ImagePromptsRequest => ({
  brief: briefOf({ language: 'en' }),
  article: articleOf(),
  images: { cover: true, inline: 2 },
  styles: { hero: 'cinematic', inline: 'watercolor' },
  signal: never,
  ...changes,
});
const image = (section: number, changes: Record<string, unknown> = {}) => ({
  section,
  prompt: `A gardener kneels beside bed ${section}.`,
  altText: `A gardener at bed ${section}`,
  caption: '',
  ...changes,
});
const places = (prompts: readonly ImagePrompt[]) => prompts.map(({ sectionId }) => sectionId);

describe('the images of an article', () => {
  // contract.md G98
  it('are asked for in one call, with the text, the number, the places and the styles, and come back cover first', async () => {
    const model = await scripted({
      images: [
        image(3, { caption: 'Watered at *six*.' }),
        image(0),
        image(1, { altText: 'Roots <b>under</b> glass' }),
      ],
    });
    const prompts = await requestImagePrompts(model.writer, requestOf());
    expect(prompts).toEqual([
      {
        ...{ role: 'hero', sectionId: null, style: 'cinematic', caption: null },
        ...{ prompt: 'A gardener kneels beside bed 0.', altText: 'A gardener at bed 0' },
      },
      {
        ...{ role: 'inline', sectionId: 'section-1', style: 'watercolor', caption: null },
        ...{ prompt: 'A gardener kneels beside bed 1.', altText: 'Roots under glass' },
      },
      {
        ...{ role: 'inline', sectionId: 'section-3', style: 'watercolor', caption: 'Watered at six.' },
        ...{ prompt: 'A gardener kneels beside bed 3.', altText: 'A gardener at bed 3' },
      },
    ]);
    const requests = model.requests();
    expect(requests).toHaveLength(1);
    const asked = requests[0]?.messages.map(({ content }) => content).join('\n') ?? '';
    const task = JSON.parse(asked.split('\n').find((line) => line.startsWith('{"task":')) ?? '');
    expect(task).toEqual({
      task: { imageCount: 3, coverStyle: 'cinematic', inlineStyle: 'watercolor', sections: [1, 2, 3, 4] },
    });
    for (const heading of HEADINGS) expect(asked).toContain(`The ${heading.toLowerCase()}`);
  });

  // contract.md G98
  it.each([
    ['no cover', { cover: false, inline: 2 }, [image(0), image(2)], ['section-2', 'section-3']],
    ['a cover alone', { cover: true, inline: 0 }, [image(2), image(3)], [null]],
    ['a cover that no image names', { cover: true, inline: 1 }, [image(2), image(4)], [null, 'section-4']],
    ['two at one place', { cover: false, inline: 2 }, [image(2), image(2)], ['section-1', 'section-2']],
    [
      'wrong places',
      { cover: false, inline: 4 },
      [image(9), image(-1), image(2), image(0)],
      HEADINGS.map((_, index) => `section-${index + 1}`),
    ],
    [
      'too few',
      { cover: true, inline: 3 },
      [image(0), image(1)],
      [null, 'section-1', 'section-2', 'section-4'],
    ],
    ['too many', { cover: false, inline: 1 }, [image(4), image(1), image(2)], ['section-4']],
    [
      'more than sections',
      { cover: false, inline: 6 },
      [image(1), image(1), image(1)],
      ['section-1', 'section-1', 'section-2', 'section-3', 'section-3', 'section-4'],
    ],
  ])('have places of their own, also of a response with %s', async (_what, images, given, expected) => {
    const { writer } = await scripted({ images: given });
    expect(places(await requestImagePrompts(writer, requestOf({ images })))).toEqual(expected);
  });

  // contract.md G76
  it('have room for their number in the response', async () => {
    const { writer, requests } = await scripted({ images: [image(0)] });
    for (const inline of [0, 19])
      await requestImagePrompts(writer, requestOf({ images: { cover: true, inline } }));
    const limits = requests().map((request) => (request as unknown as { max_tokens: number }).max_tokens);
    expect(limits).toEqual([450 + 500 + 4_096, 20 * 450 + 500 + 4_096]);
  });

  it('stand in no section that is left out', async () => {
    const model = await scripted({ images: [image(1), image(2)] });
    const article = articleOf(['Soil', 'Light']);
    const prompts = await requestImagePrompts(
      model.writer,
      requestOf({ article, images: { cover: false, inline: 2 } }),
    );
    expect(places(prompts)).toEqual(['section-3', 'section-4']);
    const alone = await requestImagePrompts(model.writer, requestOf({ article: articleOf(HEADINGS) }));
    expect(places(alone)).toEqual([null]);
  });

  // contract.md G99
  it('have texts that may stand in an article: a caption that may not is left out, another image is described by its heading', async () => {
    const { writer } = await scripted({
      images: [
        image(0, { caption: 'Nine of 10 gardeners agree.' }),
        image(1, { caption: 'Ready after 14 days, see https://spam.example/x' }),
        image(2, { altText: 'As an AI, I cannot see images.' }),
        image(3, { altText: 'Очень длинное описание на совсем другом языке' }),
        image(4, { prompt: '   ' }),
      ],
    });
    const prompts = await requestImagePrompts(writer, requestOf({ images: { cover: true, inline: 4 } }));
    expect(prompts.map(({ altText, caption }) => [altText, caption])).toEqual([
      ['A gardener at bed 0', null],
      ['A gardener at bed 1', 'Ready after 14 days, see spam.example'],
      ['Light', null],
      ['Water', null],
      ['Frost', null],
    ]);
    for (const { prompt } of prompts) expect(prompt).toMatch(/^A (?:gardener|scene)/);
  });

  // contract.md G98
  it('are asked for again with what is wrong, three times in all, and then there are none', async () => {
    const recovered = await scripted('Sure!', { images: [] }, { images: [image(0), image(1), image(2)] });
    expect(await requestImagePrompts(recovered.writer, requestOf())).toHaveLength(3);
    expect(recovered.requests()).toHaveLength(3);
    expect(recovered.requests()[2]?.messages.at(-1)?.content).toContain('None was given');

    const hopeless = await scripted({ images: [image(0, { altText: '' })] });
    await expect(requestImagePrompts(hopeless.writer, requestOf())).rejects.toMatchObject({
      kind: 'unusable',
    });
    expect(hopeless.requests()).toHaveLength(3);
    await expect(requestImagePrompts(hopeless.writer, requestOf({ answered: 2 }))).rejects.toThrow(
      ProviderError,
    );
    expect(hopeless.requests()).toHaveLength(4);
  });
});

/** What models write where a text is expected. */
const hostileText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  anyText({ maxLength: 60 }),
  fc.constantFrom(
    '',
    '\u0000',
    '\ud800',
    '<script>alert(1)</script>',
    '![x](https://spam.example/a.png)',
    'See www.spam.example now',
    '[words](article:3)',
    'Sure! Here is the text: roses',
    `${'*_`['.repeat(4_000)}`,
    'rose '.repeat(2_000),
    'Очень длинное описание на совсем другом языке',
    'A rose in a pot',
  ),
);
const hostileImage = fc.record({
  section: fc.oneof(fc.integer({ min: -3, max: 9 }), fc.integer()),
  prompt: hostileText,
  altText: hostileText,
  caption: hostileText,
});
/** A writer whose responses are these objects, whatever it is asked. */
const saying = (object: Record<string, unknown> | null): ArticleWriter => ({
  name: 'openai-compatible',
  model: 'hostile',
  contextTokens: 32_000,
  ask: async () => ({ object, truncated: false }),
});

describe('whatever a model responds', () => {
  // contract.md G98 and G99
  it('there are as many images as are wanted, in order and spread, with bounded plain texts; or an error', async () => {
    const images = fc.record({ cover: fc.boolean(), inline: fc.nat({ max: 20 }) });
    const response = fc.oneof(
      { weight: 9, arbitrary: fc.record({ images: fc.array(hostileImage, { maxLength: 25 }) }) },
      { weight: 1, arbitrary: fc.object() as fc.Arbitrary<Record<string, unknown>> },
    );
    await fc.assert(
      fc.asyncProperty(images, response, async (wanted, object) => {
        const made = requestImagePrompts(saying(object), requestOf({ images: wanted }));
        const prompts = await made.catch((error: unknown) => {
          expect(error).toBeInstanceOf(ProviderError);
          return null;
        });
        if (prompts === null) return;
        const inline = prompts.filter(({ role }) => role === 'inline');
        expect(inline).toHaveLength(wanted.inline);
        expect(prompts.length - inline.length).toBe(wanted.cover ? 1 : 0);
        if (wanted.cover) expect(prompts[0]).toMatchObject({ role: 'hero', sectionId: null });
        const at = inline.map(({ sectionId }) =>
          HEADINGS.findIndex((_, index) => sectionId === `section-${index + 1}`),
        );
        expect(at).toEqual(at.toSorted((one, other) => one - other));
        const counts = HEADINGS.map((_, index) => at.filter((place) => place === index).length);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        for (const { prompt, altText, caption } of prompts) {
          for (const [text, most] of [
            [prompt, MAX_IMAGE_PROMPT],
            [altText, MAX_ALT_TEXT],
            [caption ?? 'x', 300],
          ] as const) {
            expect(text.trim()).not.toBe('');
            expect(codePoints(text)).toBeLessThanOrEqual(most);
            expect(text.isWellFormed()).toBe(true);
            expect(text).not.toMatch(/https?:|www\.|<script|\0|\n/);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  // contract.md G98
  it('a model with bad habits describes all images of 100 articles, or none', async () => {
    const model = await startCarelessModel();
    closing.push(model);
    const rates = Object.fromEntries(WRITING_HABITS.map((habit) => [habit, 0.1]));
    let described = 0;
    for (let seed = 1; seed <= 100; seed += 1) {
      model.forget();
      model.become({ seed, writing: rates, repairs: 0.5 });
      const prompts = await requestImagePrompts(await writerAt(model.url), requestOf()).catch(
        (error: unknown) => {
          expect(error).toMatchObject({ kind: 'unusable' });
          return [];
        },
      );
      if (prompts.length === 3) described += 1;
      expect(JSON.stringify(prompts)).not.toMatch(/https?:|mailto|\/offer|\/admin|Sure!|Shall I|<div|[а-я]/);
    }
    expect(described).toBeGreaterThanOrEqual(97);
  });
});

describe('places', () => {
  // contract.md G98
  it('are spread over the sections, each image in one of its own where there are enough', () => {
    expect(placeImages(4, 1)).toEqual([2]);
    expect(placeImages(4, 2)).toEqual([1, 3]);
    expect(placeImages(3, 3)).toEqual([0, 1, 2]);
    expect(placeImages(2, 3)).toEqual([0, 1, 1]);
    expect([placeImages(0, 3), placeImages(3, 0)]).toEqual([[], []]);
    const spread = (counts: number, at: readonly number[]) => {
      const each = Array.from({ length: counts }, (_, place) => at.filter((one) => one === place).length);
      expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(1);
    };
    const sections = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(sections, fc.nat({ max: 20 }), (count, images) => {
        const at = placeImages(count, images);
        expect(at).toHaveLength(images);
        spread(count, at);
      }),
    );
    const wish = fc.option(fc.integer({ min: -2, max: 42 }));
    fc.assert(
      fc.property(sections, fc.array(wish, { maxLength: 20 }), (count, wishes) => {
        const at = settlePlaces(count, wishes);
        expect(at).toHaveLength(wishes.length);
        spread(count, at);
        // The first that wishes for a section gets it.
        for (const [index, place] of wishes.entries()) {
          const isFirst = place !== null && wishes.indexOf(place) === index;
          if (isFirst && place >= 0 && place < count && wishes.length <= count) expect(at[index]).toBe(place);
        }
      }),
    );
  });
});

describe('the pseudo writer', () => {
  // contract.md G44
  it('describes any number of images, the same each time', async () => {
    const writer = createPseudoWriter();
    for (const inline of [0, 1, 3, 19]) {
      const request = requestOf({ images: { cover: true, inline } });
      const prompts = await requestImagePrompts(writer, request);
      expect(prompts).toHaveLength(inline + 1);
      expect(await requestImagePrompts(writer, request)).toEqual(prompts);
      for (const { prompt } of prompts) expect(prompt).toMatch(/^A pseudo picture/);
    }
  });
});

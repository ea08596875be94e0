import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { withoutFaq } from '../../src/generation/writing/faq-headings.ts';
import { planOutline } from '../../src/generation/writing/plan-outline.ts';
import { jsonIn } from '../support/chat-completions.ts';
import { briefOf, never, startScripted } from './support.ts';

let model: Awaited<ReturnType<typeof startScripted>>;
afterEach(() => model.close());

const section = (heading: string, fields: object = {}) => ({
  heading,
  level: 2,
  purpose: `Tells of ${heading}.`,
  keywords: ['rose'],
  estimatedWords: 100,
  ...fields,
});
const good = {
  title: 'Roses in a small garden',
  slug: 'roses-in-a-small-garden',
  metaTitle: 'Roses',
  metaDescription: 'How roses grow in small gardens.',
  sections: [section('Soil'), section('Mulch', { level: 3 }), section('Light', { estimatedWords: 200 })],
};
const plan = (config = {}) => planOutline(model.writer, { brief: briefOf(config), signal: never });
const told = (): string => model.requests().at(-1)?.messages.at(-1)?.content ?? '';

describe('an outline', () => {
  it('gets ids, and words that add up to the body', async () => {
    model = await startScripted(good);
    const { sections, ...head } = await plan({ wordCount: 1_250, faq: true });
    expect(head).toEqual({
      title: good.title,
      slug: good.slug,
      metaTitle: good.metaTitle,
      metaDescription: good.metaDescription,
    });
    expect(sections).toEqual([
      { ...good.sections[0], id: 'section-1', estimatedWords: 255 },
      { ...good.sections[1], id: 'section-2', estimatedWords: 255 },
      { ...good.sections[2], id: 'section-3', estimatedWords: 490 },
    ]);
    const [request] = model.requests();
    const lines = jsonIn(request?.messages[1]?.content ?? '');
    expect(lines).toMatchObject([
      { settings: { topic: 'Roses' } },
      { task: { words: 1_000, minSections: 1, maxSections: 17 } },
    ]);
  });

  it('of 10,000 words has five sections at least, and is asked for again with fewer', async () => {
    const sections = Array.from({ length: 5 }, (_, index) => section(`Part ${index}`));
    model = await startScripted({ ...good, sections: sections.slice(1) }, { ...good, sections });
    expect((await plan({ wordCount: 10_000 })).sections).toHaveLength(5);
    expect(model.requests()[0]?.messages[1]?.content).toContain('about 10000 words in 5 to 40 sections');
    expect(told()).toContain('There are 4 sections. There should be 5 to 40.');
  });

  // contract.md G42
  it.each([
    ['no sections', { sections: [] }, 'There are 0 sections. There should be 1 to 20.'],
    [
      'too many sections',
      { sections: Array.from({ length: 21 }, (_, index) => section(`Part ${index}`)) },
      'There are 21 sections.',
    ],
    [
      'a heading twice',
      { sections: [section('Soil'), section('soil!')] },
      'sections.1.heading: Another section has this heading.',
    ],
    [
      'an empty purpose',
      { sections: [section('Soil', { purpose: ' ' })] },
      'sections.0.purpose: It is empty.',
    ],
    [
      'chatter alone',
      { metaDescription: 'Sure! Here is your description.' },
      'metaDescription: It is empty.',
    ],
    [
      'chatter',
      { sections: [section('Soil', { purpose: 'As an AI language model, I plan this.' })] },
      'sections.0.purpose: It speaks about the response or its writer.',
    ],
    [
      'another script',
      { title: 'Розы в саду', sections: [section('Почва и свет для роз')] },
      'A text is not in English.',
    ],
    [
      'a metaTitle that is too long',
      { metaTitle: 'Rose '.repeat(20) },
      'metaTitle: It has 99 characters. It should have at most 70.',
    ],
    ['a field missing', { slug: undefined }, 'slug'],
  ])('with %s is asked for again, with what is wrong', async (_, fields, problem) => {
    model = await startScripted({ ...good, ...fields }, good);
    await expect(plan()).resolves.toMatchObject({ title: good.title });
    expect(model.requests()).toHaveLength(2);
    expect(told()).toContain(problem);
  });

  it('is mended where that is safe: the slug, levels, its own questions, marks, links, tags and addresses', async () => {
    model = await startScripted({
      ...good,
      title: '# **Roses** in Łódź',
      metaDescription: 'Roses <b>of</b> [a shop](https://spam.example/x), see https://spam.example/y.',
      slug: 'Roses/in Łódź',
      sections: [
        section('Soil of Socket.io', { level: 3, keywords: ['**rose**', 'rose', ' '] }),
        section('Light', { level: 1 }),
        section('Water', { level: 5 }),
        section('Frequently asked questions'),
      ],
    });
    expect(await plan({ faq: true })).toMatchObject({
      title: 'Roses in Łódź',
      slug: 'roses-in-lodz',
      metaDescription: 'Roses of a shop, see spam.example.',
      sections: [
        { heading: 'Soil of Socket.io', level: 2, keywords: ['rose'] },
        { heading: 'Light', level: 2 },
        { heading: 'Water', level: 3 },
      ],
    });
    expect(model.requests()).toHaveLength(1);
  });

  it('that stays too long in a meta text is cut at a word', async () => {
    model = await startScripted({
      ...good,
      metaTitle: 'Rose '.repeat(20),
      metaDescription: 'Rose '.repeat(60),
    });
    const { metaTitle, metaDescription } = await plan();
    expect(metaTitle).toBe('Rose '.repeat(14).trim());
    expect(metaDescription).toBe('Rose '.repeat(40).trim());
    expect(model.requests()).toHaveLength(2);
  });

  // contract.md G62
  it('is cut where it is longer than an outline has to be, without a call', async () => {
    const long = (heading: string) =>
      section(`${heading} ${'of roses '.repeat(30)}`, {
        purpose: 'Tells all of it. '.repeat(100),
        keywords: Array.from({ length: 9 }, (_, index) => `${index} ${'rose '.repeat(20)}`),
      });
    const charactersOf = ({ sections }: Awaited<ReturnType<typeof plan>>) =>
      sections.reduce(
        (sum, { heading, purpose, keywords }) => sum + [heading, purpose, ...keywords].join('').length,
        0,
      );
    model = await startScripted({ ...good, sections: [long('Soil'), long('Light')] });
    const { sections } = await plan();
    for (const { heading, purpose, keywords } of sections) {
      expect([heading.length, purpose.length, keywords.length]).toEqual([
        expect.toSatisfy((length: number) => length > 100 && length <= 120),
        expect.toSatisfy((length: number) => length > 250 && length <= 300),
        5,
      ]);
      expect(Math.max(...keywords.map(({ length }) => length))).toBeLessThanOrEqual(60);
    }
    expect(model.requests()).toHaveLength(1);
    await model.close();
    model = await startScripted({
      ...good,
      sections: Array.from({ length: 40 }, (_, index) => long(`Part ${index}`)),
    });
    expect(charactersOf(await plan({ wordCount: 10_000 }))).toBeLessThanOrEqual(12_000);
    expect(charactersOf(await plan({ wordCount: 2_400 }))).toBeLessThanOrEqual(12_000);
  });

  it('fails after three answers that cannot be used', async () => {
    model = await startScripted({ ...good, sections: [] });
    await expect(plan()).rejects.toMatchObject({
      kind: 'unusable',
      message:
        'No usable text was written for the outline: it did not have the requested form. Try again, or change the topic or the prompt.',
    });
    expect(model.requests()).toHaveLength(3);
    const page = readFileSync(new URL('../../docs/operating-generation.md', import.meta.url), 'utf8');
    expect(page).toContain('"No usable text was written for …"');
  });
});

// contract.md G69
describe('a section of questions in an outline', () => {
  const at = (heading: string, level = 2) => ({ heading, level });

  it.each([
    'FAQ',
    'FAQ: roses',
    'Questions fréquentes',
    'よくある質問',
    'Frequently asked questions about roses',
  ])('goes with its parts: %s', (heading) => {
    const sections = [at('Soil'), at(heading), at('Why do they die?', 3), at('Light'), at('Shade', 3)];
    expect(withoutFaq(sections).map((section) => section.heading)).toEqual(['Soil', 'Light', 'Shade']);
  });

  it('is one only when its heading says so, and never the whole outline', () => {
    const sections = [at('FAQ pages that help'), at('Questions to ask a nursery'), at('Answers')];
    expect(withoutFaq(sections)).toEqual(sections);
    expect(withoutFaq([at('FAQ')])).toEqual([at('FAQ')]);
  });
});

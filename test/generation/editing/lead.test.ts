import { afterEach, describe, expect, it } from 'vitest';
import { leadWords } from '../../../src/generation/config.ts';
import { lengthsOf } from '../../../src/generation/text-parts.ts';
import { writeLead } from '../../../src/generation/writing/write-lead.ts';
import { briefOf, never, outlineOf, prose, startScripted } from '../support.ts';

type Model = Awaited<ReturnType<typeof startScripted>>;
let model: Model;
afterEach(() => model?.close());

const outline = outlineOf('Soil', 'Light');
const part = (id: string, text: string) => ({
  blocks: [{ id, type: 'paragraph' as const, text }],
  words: 300,
  mended: {},
});
const article = {
  outline,
  plan: null,
  finished: [part('a', `In 2019 the soil had 37 % clay. ${prose(200)}`), part('b', prose(200, 'lily'))],
  faq: null,
};
const names = {
  title: 'Roses that live',
  slug: 'roses-that-live',
  metaTitle: 'Roses that live',
  metaDescription: 'For gardeners with clay: what keeps roses alive.',
};
const lead = 'In 2019 the roses died. What helped was not more water but less clay.';
const write = (more: Partial<Parameters<typeof writeLead>[1]> = {}) =>
  writeLead(model.writer, {
    brief: briefOf({ topic: 'Roses', wordCount: 600 }),
    article,
    words: 60,
    room: 69,
    names: true,
    signal: never,
    ...more,
  });
const problems = (): string => model.requests().at(-1)?.messages.at(-1)?.content ?? '';

describe('a lead', () => {
  // contract.md G83
  it('has a tenth of the words of the body, at most 150; below 40 there is none, nor before an opening', () => {
    const words = (wordCount: number, faq = false) => leadWords({ wordCount, faq });
    expect([words(399), words(400), words(600), words(1_500), words(10_000)]).toEqual([0, 40, 60, 150, 150]);
    expect([words(649, true), words(650, true)]).toEqual([0, 40]);
    const { config } = briefOf({ wordCount: 600 });
    expect(lengthsOf(config, null).lead).toBe(60);
    expect(lengthsOf(config, { opening: true } as never).lead).toBe(0);
  });

  it('is written with the finished text before it, and cut to its room at a sentence', async () => {
    model = await startScripted({ lead: `${lead} ${prose(80)}`, ...names });
    const written = await write();
    expect(written.lead?.blocks).toEqual([{ id: 'lead-1', type: 'paragraph', text: lead }]);
    expect(written).toMatchObject({ lead: { words: 14 }, names });
    const turn = model.requests()[0]?.messages[1]?.content ?? '';
    expect(turn).toContain('In 2019 the soil had 37 % clay.');
    expect(turn.indexOf('liliess grow'.slice(0, 6))).toBeLessThan(turn.indexOf('The article is finished'));
    expect(model.requests()).toHaveLength(1);
  });

  // contract.md G84
  it('with a figure that is not in the text is requested again with exactly that', async () => {
    model = await startScripted(
      { lead: 'In 2021 half of 52 gardens died.', ...names },
      { lead: 'Of the soil 37 % was clay in 2019.', ...names },
    );
    expect((await write()).lead?.blocks[0]).toMatchObject({ text: 'Of the soil 37 % was clay in 2019.' });
    expect(problems()).toContain('lead: It has figures that are not in the text. Write it without them.');
    expect(problems()).toContain('2021, 52');
  });

  // contract.md G85
  it('and names are each taken from the response that had them', async () => {
    model = await startScripted(
      { lead: '', ...names, title: 'Roses 52' },
      { lead, ...names, title: '' },
      { lead: 'Another lead of the roses.', ...names, metaTitle: '' },
    );
    const written = await write();
    expect(written.lead?.blocks).toMatchObject([{ text: lead }]);
    expect(written.names).toBeNull();
    expect(model.requests()).toHaveLength(3);
    await model.close();
    model = await startScripted({ lead: '', ...names });
    expect(await write()).toEqual({ lead: null, names });
    expect(await write({ words: 0 })).toEqual({ lead: null, names });
  });

  // contract.md G74
  it('that is empty, talks about itself or is a heading is not used', async () => {
    model = await startScripted(
      { lead: '', ...names },
      { lead: 'As an AI, I cannot write this lead.', ...names },
      { lead: '# Roses', ...names },
    );
    await expect(write({ names: false })).rejects.toMatchObject({ kind: 'unusable' });
    expect(model.requests()).toHaveLength(3);
  });

  it('comes with an address of its own words where the slug is none, and meta texts cut at a word', async () => {
    const long = 'Roses in clay '.repeat(20);
    model = await startScripted({ lead, ...names, slug: 'Roses!', metaTitle: long, metaDescription: long });
    const { names: made } = await write();
    expect(made).toMatchObject({ slug: 'roses-that-live', metaTitle: expect.stringMatching(/^.{50,70}$/) });
    expect(made?.metaDescription.length).toBeLessThanOrEqual(200);
  });
});

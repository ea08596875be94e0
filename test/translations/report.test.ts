import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import type { JobId } from '../../src/ids.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { ProviderError, type TranslationRequest } from '../../src/providers/types.ts';
import { pruneTranslations } from '../../src/translations/prune.ts';
import { keepReport } from '../../src/translations/report/report.ts';
import { createArticle } from '../support/articles.ts';
import type { TestWorkspace } from '../support/service.ts';
import { useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, provider, workspace, calls } = useTranslations();

/** What the engine answers instead, by a word of the text. */
let answers: Record<string, (text: string, asked: TranslationRequest) => string | undefined> = {};
/** It declines every request that has a text with this word. */
let declines: string | null = null;
let asked = 0;
beforeEach(() => {
  answers = {};
  declines = null;
  asked = 0;
  provider.answer = (request) => {
    asked += 1;
    const disliked = declines;
    if (disliked !== null && request.segments.some(({ text }) => text.includes(disliked))) {
      throw new ProviderError('refused', 'The stand-in declines to work on this text.');
    }
    return new Map(
      request.segments.flatMap(({ id, text }) => {
        const [, change] = Object.entries(answers).find(([word]) => text.includes(word)) ?? [];
        const answer = change === undefined ? pseudoLocalize(text) : change(text, request);
        return answer === undefined ? [] : [[id, answer] as const];
      }),
    );
  };
});

const paragraph = (id: string, text: string) => ({ id, type: 'paragraph' as const, text });
const filler = (words: number) =>
  Array.from({ length: words }, (_, index) => `word${String.fromCharCode(97 + (index % 26))}`).join(' ');

/** An article of about 1,100 words with a text of two words that may turn out stubborn. */
const source = async (...more: { id: string; text: string }[]) => {
  const blocks = [
    { id: 'h', type: 'heading' as const, level: 2 as const, text: 'Watering' },
    paragraph('stubborn', 'Stubborn words'),
    ...more.map(({ id, text }) => paragraph(id, text)),
    paragraph('p1', `First ${filler(550)}`),
    paragraph('p2', `Second ${filler(470)}`),
  ];
  return createArticle(service.db, workspace, await service.project(workspace), {
    document: { version: 1, blocks },
  });
};

const readReport = async (of: TestWorkspace, jobId: string) =>
  (await service.call(of.key, 'GET', `/api/jobs/${jobId}/report`)).body.report;
const listed = async (articleId: string) =>
  (await service.call(workspace.key, 'GET', `/api/articles/${articleId}/translations`)).body.translations;

// contract.md V25
it('what was wrong with an answer is kept in whole characters, ten defects of it at most', async () => {
  const links = Array.from({ length: 12 }, (_, index) => `[link ${index}](https://example.com/${index})`);
  const first = (answer: string) => (text: string, asked: TranslationRequest) =>
    asked.repair === undefined ? answer : pseudoLocalize(text);
  answers = { Emoji: first('<u>aaaaaaaaaaaaaaaa😀 x</u>'), 'link 0': first('Links without their tags') };
  const { id } = await source(
    { id: 'emoji', text: 'Emoji words' },
    { id: 'links', text: `See ${links.join(', ')}` },
  );
  const { job } = await calls.translateTo(workspace, id);
  expect(job).toMatchObject({ status: 'COMPLETED', errorMessage: null });
  const { entries } = await readReport(workspace, job.id);
  expect(entries).toMatchObject([
    { outcome: 'repaired', blockId: 'emoji', defects: [{ code: 'markup' }] },
    { outcome: 'repaired', blockId: 'links' },
  ]);
  expect(entries[0].defects[0].message).toContain('"<u>aaaaaaaaaaaaaaaa😀" is not one');
  expect(entries[1].defects).toHaveLength(10);
});

describe('a text that nothing usable comes for', () => {
  // contract.md V22 and V25
  it('is left in the source language, heads the report, and is made by the next refresh', async () => {
    answers = { Stubborn: () => '', numbered: (text) => pseudoLocalize(text).replace('1948', '1984') };
    const { id } = await source({ id: 'n', text: 'Something numbered 1948 happened here' });
    const { job, article } = await calls.translateTo(workspace, id);
    expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 2 });
    const texts = new Map(
      article.documentJson.blocks.map((block) => [block.id, 'text' in block ? block.text : '']),
    );
    expect(texts.get('stubborn')).toBe('Stubborn words');
    expect(texts.get('p1')).toContain('ŵöŕðå');
    const report = await readReport(workspace, job.id);
    expect(report).toMatchObject({
      status: 'COMPLETED',
      engine: 'stand-in',
      credits: { estimated: 2, consumed: 2 },
      texts: { left: 1, accepted: 1, repaired: 0, open: 0 },
      words: { left: 2, accepted: 5 },
      entries: [
        {
          outcome: 'left',
          blockId: 'stubborn',
          field: 'text',
          kind: 'paragraph',
          defects: [{ code: 'empty' }],
        },
        { outcome: 'accepted', blockId: 'n', words: 5, defects: [{ code: 'numbers' }] },
      ],
      omitted: 0,
    });
    expect(report.entries[1].defects[0].message).toContain('1948');
    expect(
      (await listed(article.id)).find(
        (each: { sourceArticleId: string | null }) => each.sourceArticleId === id,
      ).states,
    ).toMatchObject({ stale: 1, edited: 0, new: 0 });

    // Still stubborn: nothing is made, nothing is charged.
    const again = await calls.untilFinal(workspace, (await calls.refresh(workspace, article.id)).id);
    expect(again).toMatchObject({ status: 'FAILED', consumedCredits: 0 });
    expect(again.errorMessage).toContain('no usable translation of 1 of 1 texts');
    answers = {};
    const asked: string[] = [];
    const { answer } = provider;
    provider.answer = (request) => {
      asked.push(...request.segments.map(({ text }) => text));
      return answer?.(request) ?? new Map();
    };
    const made = await calls.untilFinal(workspace, (await calls.refresh(workspace, article.id)).id);
    expect(made).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
    expect(asked).toEqual(['Stubborn words']);
    const after = await calls.readArticle(workspace, article.id);
    expect(after.documentJson.blocks.find(({ id: block }) => block === 'stubborn')).toMatchObject({
      text: pseudoLocalize('Stubborn words'),
    });
    expect(await readReport(workspace, made.id)).toMatchObject({
      texts: { total: 1, clean: 1 },
      entries: [],
    });
  });

  it('is not paid for', async () => {
    answers = { Stubborn: () => '' };
    const blocks = [paragraph('stubborn', 'Stubborn words'), paragraph('p', `First ${filler(998)}`)];
    const { id } = await createArticle(service.db, workspace, await service.project(workspace), {
      document: { version: 1, blocks },
    });
    const { job } = await calls.translateTo(workspace, id);
    // 1,001 words are two credits, 999 are one.
    expect(job).toMatchObject({ status: 'COMPLETED', estimatedCredits: 2, consumedCredits: 1 });
    expect(await calls.readWallet(workspace)).toMatchObject({ balance: 9, reserved: 0 });
  });

  // contract.md V22
  it('is neither applied nor proposed nor charged by a refresh that makes the others', async () => {
    const { id, document } = await source({ id: 'n', text: 'Something else' });
    const { article } = await calls.translateTo(workspace, id);
    const blocks = document.blocks.map((block) =>
      block.id === 'stubborn' || block.id === 'n' ? paragraph(block.id, `Stubborn new ${block.id}`) : block,
    );
    expect((await calls.save(workspace, id, { version: 1, blocks })).status).toBe(200);
    answers = { 'Stubborn new stubborn': () => undefined };
    const job = await calls.untilFinal(workspace, (await calls.refresh(workspace, article.id)).id);
    expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
    const after = await calls.readArticle(workspace, article.id);
    const texts = after.documentJson.blocks.map((block) => ('text' in block ? block.text : ''));
    expect(texts[1]).toBe(pseudoLocalize('Stubborn words'));
    expect(texts[2]).toBe(pseudoLocalize('Stubborn new n'));
    expect(await readReport(workspace, job.id)).toMatchObject({
      texts: { total: 2, left: 1, clean: 1 },
      entries: [{ outcome: 'left', blockId: 'stubborn', defects: [{ code: 'missing' }] }],
    });
    expect(
      (await listed(article.id)).find(
        (each: { sourceArticleId: string | null }) => each.sourceArticleId === id,
      ).states,
    ).toMatchObject({ stale: 1 });
  });

  // contract.md V23
  it.each([
    [
      'the title',
      { 'A garden in spring': () => '' },
      /no usable translation of title: the translation is empty\. Nothing was charged\. Start it again/,
    ],
    [
      'a heading',
      { Watering: () => '' },
      /no usable translation of block\.0\.text: the translation is empty/,
    ],
    [
      'more than three per cent of the words',
      { Second: () => '' },
      /no usable translation of block\.3\.text/,
    ],
  ])('fails the job, uncharged, when it is %s', async (_what, bad, message) => {
    answers = bad;
    const { id } = await source();
    const { job, article } = await calls.translateTo(workspace, id);
    expect(job).toMatchObject({
      status: 'FAILED',
      consumedCredits: 0,
      errorMessage: expect.stringMatching(message),
    });
    expect(article).toMatchObject({ status: 'DRAFT', wordCount: 0 });
    const { credits, texts } = await readReport(workspace, job.id);
    expect(credits).toMatchObject({ consumed: 0 });
    expect(texts.total).toBe(texts.clean + texts.open + texts.left);
  });
});

describe('texts that the engine declines', () => {
  const article = async (blocks: DocumentJson['blocks']) =>
    createArticle(service.db, workspace, await service.project(workspace), {
      document: { version: 1, blocks },
    });
  const stateOf = async (articleId: string, sourceId: string) =>
    (await listed(articleId)).find(
      (each: { sourceArticleId: string | null }) => each.sourceArticleId === sourceId,
    ).states;

  // contract.md V27
  it('are left, reported and not charged, a heading too; the others are delivered, and a refresh asks for them again', async () => {
    declines = 'Declined';
    const blocks = [
      { id: 'h', type: 'heading' as const, level: 2 as const, text: 'Declined heading' },
      paragraph('long', `Declined ${filler(300)}`),
      ...Array.from({ length: 8 }, (_, index) => paragraph(`p${index}`, `Text ${index} ${filler(100)}`)),
    ];
    const { id } = await article(blocks);
    const { job, article: version } = await calls.translateTo(workspace, id);
    expect(job).toMatchObject({ status: 'COMPLETED', estimatedCredits: 2, consumedCredits: 1 });
    expect(version.documentJson.blocks.slice(0, 2)).toEqual(blocks.slice(0, 2));
    expect(version.documentJson.blocks[2]).toMatchObject({ text: pseudoLocalize(`Text 0 ${filler(100)}`) });
    const { entries, texts, words } = await readReport(workspace, job.id);
    expect([texts.left, words.left]).toEqual([2, 303]);
    const left = { outcome: 'left', defects: [{ code: 'refused', message: expect.any(String) }] };
    expect(entries).toMatchObject([
      { ...left, blockId: 'h' },
      { ...left, blockId: 'long' },
    ]);
    expect(await stateOf(version.id, id)).toMatchObject({ stale: 2 });

    // A refresh leaves the one that is declined still, and makes the other.
    declines = 'heading';
    const made = await calls.untilFinal(workspace, (await calls.refresh(workspace, version.id)).id);
    expect(made).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
    expect(await readReport(workspace, made.id)).toMatchObject({
      texts: { total: 2, left: 1, clean: 1 },
      entries: [{ ...left, blockId: 'h' }],
    });
    expect(await stateOf(version.id, id)).toMatchObject({ stale: 1 });
  });

  // contract.md V27
  it.each([
    { what: 'two thirds of its words', word: 'Declined' },
    // It gives up after twenty texts and those under way: each of 62 takes two requests.
    { what: 'all there is', word: '', most: 90 },
  ])('fail the job, uncharged, when they are $what', async ({ word, most = Number.POSITIVE_INFINITY }) => {
    declines = word;
    const blocks = Array.from({ length: 60 }, (_, index) =>
      paragraph(`p${index}`, `Declined ${index} ${filler(12)}`),
    );
    const { id } = await article([...blocks, paragraph('q', `Text ${filler(100)}`)]);
    const { job } = await calls.translateTo(workspace, id);
    expect(job).toMatchObject({
      status: 'FAILED',
      consumedCredits: 0,
      errorMessage: expect.stringMatching(/declines to translate too many texts.*Reword what the report/),
    });
    expect(asked).toBeLessThan(most);
    expect((await calls.readWallet(workspace)).reserved).toBe(0);
  });

  it('fail a refresh that has nothing else', async () => {
    const { source: before, version } = await calls.outdated(workspace, 200);
    declines = 'changed';
    const job = await calls.untilFinal(workspace, (await calls.refresh(workspace, version.id)).id);
    expect(job).toMatchObject({ status: 'FAILED', consumedCredits: 0 });
    expect(job.errorMessage).toMatch(/no usable translation of \d+ of \d+ texts/);
    expect(await stateOf(version.id, before.id)).toMatchObject({ stale: 4 });
  });
});

const inEnglish = (index: number) =>
  paragraph(
    `p${index}`,
    `Young plants need a good deal of water in the first weeks after planting, and garden number ${index} gets none.`,
  );
const inFrench = (text: string) =>
  `Les jeunes plantes ont besoin de beaucoup d'eau dans les semaines qui suivent, et le jardin ${/\d+/.exec(text)} n'en reçoit pas.`;

// contract.md V24
it.each([
  ['the language of its source', 'the language of the source', (text: string) => text],
  ['a third language', 'another language than the requested one', inFrench],
])('an article that comes back in %s is not charged, and says what to do', async (_, where, answer) => {
  const blocks = Array.from({ length: 6 }, (_each, index) => inEnglish(index));
  answers = { Young: answer };
  const { id } = await createArticle(service.db, workspace, await service.project(workspace), {
    document: { version: 1, blocks },
  });
  const { job } = await calls.translateTo(workspace, id);
  expect(job).toMatchObject({
    status: 'FAILED',
    consumedCredits: 0,
    errorMessage: expect.stringMatching(new RegExp(`came back in ${where}.*start it again`)),
  });
  expect(await readReport(workspace, job.id)).toMatchObject({ texts: { accepted: 6 } });
  expect((await calls.readWallet(workspace)).reserved).toBe(0);
});

// contract.md V24
it('texts that stay in another language are delivered, reported, and not charged', async () => {
  const quotations = Array.from({ length: 25 }, (_, index) => inEnglish(index));
  const blocks = [...quotations, paragraph('p', `First ${filler(560)}`)];
  answers = { Young: (text) => (text.includes(' 3 ') ? inFrench(text) : text), Meta: () => 'm'.repeat(71) };
  const { id } = await createArticle(service.db, workspace, await service.project(workspace), {
    document: { version: 1, blocks },
  });
  const metaTitle = 'Meta words of a garden that has beds and benches and trees';
  expect((await service.call(workspace.key, 'PATCH', `/api/articles/${id}`, { metaTitle })).status).toBe(200);
  const { job, article } = await calls.translateTo(workspace, id);
  // 1,061 words are two credits; 500 of them stayed in English or French.
  expect(job).toMatchObject({ status: 'COMPLETED', estimatedCredits: 2, consumedCredits: 1 });
  const { entries, texts } = await readReport(workspace, job.id);
  expect(texts).toMatchObject({ accepted: 26 });
  expect(entries).toContainEqual(
    expect.objectContaining({
      outcome: 'accepted',
      field: 'metaTitle',
      defects: expect.arrayContaining([
        { code: 'limit', message: 'the translation has 71 characters: write one of at most 70' },
      ]),
    }),
  );
  // A refresh that has nothing but two more of them ends, too.
  const more = [inEnglish(30), inEnglish(31)];
  expect((await calls.save(workspace, id, { version: 1, blocks: [...more, ...blocks] })).status).toBe(200);
  const refreshed = await calls.untilFinal(workspace, (await calls.refresh(workspace, article.id)).id);
  expect(refreshed).toMatchObject({ status: 'COMPLETED', estimatedCredits: 1, consumedCredits: 0 });
  expect(await readReport(workspace, refreshed.id)).toMatchObject({ texts: { total: 2, accepted: 2 } });
  const after = await calls.readArticle(workspace, article.id);
  expect(after.documentJson.blocks.slice(0, 2)).toEqual(more);
});

// contract.md V25
it('the report of a job stays when its texts go, without a word of them; a job of another workspace has none', async () => {
  answers = { Stubborn: () => '' };
  const { id } = await source();
  const { job } = await calls.translateTo(workspace, id);
  const before = await readReport(workspace, job.id);
  await pruneTranslations(service.db, { retentionMs: 0 });
  const after = await readReport(workspace, job.id);
  expect(before.entries[0].defects).toEqual([{ code: 'empty', message: 'the translation is empty' }]);
  expect(after.entries[0].defects).toEqual([{ code: 'empty', message: null }]);
  expect({ ...after, entries: [] }).toEqual({ ...before, entries: [] });
  const other = await service.workspace(1);
  expect((await service.call(other.key, 'GET', `/api/jobs/${job.id}/report`)).status).toBe(404);
});

// contract.md V25
it('the report of a failed job stays as it was when two workers prune at once', async () => {
  answers = { Watering: () => '' };
  const { id } = await source();
  const { job } = await calls.translateTo(workspace, id);
  expect(job.status).toBe('FAILED');
  const jobId = job.id as JobId;
  const before = await readReport(workspace, jobId);
  let second: Promise<unknown> | undefined;
  await service.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE translation_segments`.execute(tx);
    await keepReport(tx, jobId);
    await tx.updateTable('translations').set({ snapshot: null }).where('job_id', '=', jobId).execute();
    await tx.deleteFrom('translation_segments').where('job_id', '=', jobId).execute();
    let ended = false;
    second = pruneTranslations(service.db, { retentionMs: 0 }).finally(() => {
      ended = true;
    });
    const waiting = async () =>
      (await sql`SELECT 1 FROM pg_locks WHERE NOT granted`.execute(service.db)).rows.length > 0;
    await eventually(async () => ended || (await waiting()), Boolean);
  });
  await second;
  expect((await readReport(workspace, jobId)).texts).toEqual(before.texts);
});

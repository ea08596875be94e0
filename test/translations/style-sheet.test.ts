import { expect, it } from 'vitest';
import { readDecisions, type StyleSheet } from '../../src/document/translation/style-sheet.ts';
import type { JobId } from '../../src/ids.ts';
import { createPseudoProvider } from '../../src/providers/pseudo.ts';
import { ProviderError, type TermPair, type TranslationRequest } from '../../src/providers/types.ts';
import { translateBatch } from '../../src/translations/batch.ts';
import { planSegments } from '../../src/translations/plan.ts';
import { drawStyleSheet } from '../../src/translations/style-sheet/draw.ts';
import { usablePairs } from '../../src/translations/style-sheet/terms.ts';
import { useTestService } from '../support/service.ts';
import { translating } from '../support/translating.ts';

const service = useTestService();
const signal = new AbortController().signal;

/** An engine that draws a sheet with another translation of its term each time, after `before`. */
function engine(before: () => Promise<void> = async () => undefined) {
  const told: TranslationRequest[] = [];
  const drawn: StyleSheet[] = [];
  const provider = {
    ...createPseudoProvider(),
    async translate(request: TranslationRequest) {
      told.push(request);
      return createPseudoProvider().translate(request);
    },
    async styleSheet() {
      const terms = [{ source: 'wordb', target: `palabra ${drawn.length}` }];
      const sheet = { ...readDecisions({ address: 'tú', quotes: '«…»' }, 'es'), terms };
      drawn.push(sheet);
      await before();
      return sheet;
    },
  };
  return { db: service.db, provider, told, drawn };
}

/** A job that no worker takes, planned. */
async function planned(): Promise<JobId> {
  const workspace = await service.workspace(10);
  const { job } = await translating(service).translate(workspace, 1_000);
  const jobId = job.id as JobId;
  const plan = await planSegments(service.db, jobId, { name: 'stand-in' });
  expect(plan).toEqual({ batches: 4, bodyBatches: 3, words: 1_004, hasRoom: true });
  expect(await planSegments(service.db, jobId, { name: 'stand-in' })).toEqual(plan);
  return jobId;
}
const sheetsSent = ({ told }: ReturnType<typeof engine>) => told.map(({ context }) => context?.sheet);
const sheetOf = (jobId: JobId) =>
  service.db
    .selectFrom('article_style_sheets')
    .innerJoin('jobs', 'jobs.article_id', 'article_style_sheets.article_id')
    .select('sheet')
    .where('jobs.id', '=', jobId)
    .executeTakeFirst();

// contract.md V18
it('is drawn once: what a crash left is found, and all batches get the same', async () => {
  const jobId = await planned();
  const asked = engine();
  expect(await drawStyleSheet(asked, { jobId, signal })).toBe(1);
  expect(await drawStyleSheet(asked, { jobId, signal })).toBe(1);
  expect(asked.drawn).toHaveLength(1);
  for (const batch of [0, 1, 2, 3]) await translateBatch(asked, { jobId, batch, signal });
  expect(sheetsSent(asked)).toEqual(Array(4).fill(asked.drawn[0]));
  expect(await sheetOf(jobId)).toEqual({ sheet: asked.drawn[0] });
});

it('that comes after the first batch was requested is not given to the others, nor to the version', async () => {
  const jobId = await planned();
  const asked: ReturnType<typeof engine> = engine(async () => {
    await translateBatch(asked, { jobId, batch: 0, signal });
  });
  expect(await drawStyleSheet(asked, { jobId, signal })).toBe(0);
  for (const batch of [1, 2, 3]) await translateBatch(asked, { jobId, batch, signal });
  expect(sheetsSent(asked)).toEqual([null, null, null, null]);
  expect(await sheetOf(jobId)).toBeUndefined();
});

it('that an engine refuses to draw is no work that anybody has to pay', async () => {
  const jobId = await planned();
  const refusing = engine(async () => {
    throw new ProviderError('refused', 'declined');
  });
  await expect(drawStyleSheet(refusing, { jobId, signal })).rejects.toThrow('declined');
  const { asked_batches } = await service.db
    .selectFrom('translations')
    .select('asked_batches')
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  expect(asked_batches).toEqual([]);
});

// contract.md V17
it.each<[string, TermPair, boolean]>([
  ['an ordinary pair', { source: 'raised bed', target: 'bancal elevado' }, true],
  [
    'one in another case, with an apostrophe within a word',
    { source: 'Raised Bed', target: "l'arriate" },
    true,
  ],
  ['one of another script', { source: '肥料', target: 'abono' }, true],
  ['a term that the texts have not', { source: 'hedge', target: 'seto' }, false],
  ['a term of the glossary', { source: 'Compost', target: 'mantillo' }, false],
  ['no words', { source: '42', target: '42' }, false],
  ['a tag', { source: 'raised bed', target: '<b>bancal</b>' }, false],
  ['a line break', { source: 'raised bed', target: 'bancal\nelevado' }, false],
  ['a line break of Unicode', { source: 'raised bed', target: 'bancal\u2028elevado' }, false],
  ['a quote', { source: 'raised bed', target: '"bancal"' }, false],
  ['a typographic quote', { source: 'raised bed', target: '„bancal“' }, false],
  ['a single quote', { source: 'raised bed', target: "bancal' elevado" }, false],
  ['a control character', { source: 'raised bed', target: 'ban\u0007cal' }, false],
  ['61 characters', { source: 'raised bed', target: 'b'.repeat(61) }, false],
  ['nothing', { source: 'raised bed', target: ' ' }, false],
])('takes only terms that may stand in a prompt: %s', (_what, pair, isTaken) => {
  const texts = ['A raised bed of compost, 肥料 and 42 stones'];
  expect(usablePairs([pair], { texts, taken: ['compost'], limit: 9, room: 999 })).toEqual(
    isTaken ? [pair] : [],
  );
});

it('has each term once, and no more than may be', () => {
  const texts = ['one two three'];
  const drawn = ['one', 'One', 'two', 'three'].map((source, target) => ({ source, target: `t${target}` }));
  const taken = (limit: number, room: number) =>
    usablePairs(drawn, { texts, taken: [], limit, room }).map(({ source }) => source);
  expect(taken(2, 999)).toEqual(['one', 'two']);
  // A pair of these has 31 characters with its comma.
  expect([taken(9, 62), taken(9, 61)]).toEqual([['one', 'two'], ['one']]);
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { JobStatus } from '../../src/db/tables.ts';
import type { JobId } from '../../src/ids.ts';
import { type StandInWriter, useGenerations } from '../support/generating.ts';
import { createStandInResearch, PAGES, resetResearch } from '../support/researching.ts';
import { hang } from '../support/translating.ts';

const web = createStandInResearch();
const { service, workspace, calls, writers } = useGenerations({
  credits: 40,
  env: { WEB_RESEARCH: 'true', FACT_CHECKING: 'true' },
  research: web,
});
beforeEach(() => resetResearch(web));

const settings = { topic: 'Watering tomatoes', wordCount: 300, imageCount: 0, researchEnabled: true };
const WRONG = 'Tomatoes in open ground need about 90 litres of water a week in high summer.';
const FOURTH = 'https://four.example/summer';
const isChecking = (): boolean => writers.asked.includes('claims');

/** Where a run hangs until it is cancelled, as its request is under way. */
type Step =
  | Parameters<StandInWriter['behave']>[0]
  | 'searching'
  | 'reading'
  | 'evidence'
  | 'pages of evidence';

/** Hangs at a step. Resolves once the run is there. */
function hangAt(step: Step): Promise<void> {
  return new Promise((resolve) => {
    const there = (signal: AbortSignal): Promise<void> => {
      resolve();
      return hang(signal);
    };
    const free = async (): Promise<void> => undefined;
    web.waits = (signal) => (step === (isChecking() ? 'evidence' : 'searching') ? there(signal) : free());
    web.waitsToRead = (signal) =>
      step === (isChecking() ? 'pages of evidence' : 'reading') ? there(signal) : free();
    writers.behave = async (what, signal) => {
      // The claims are searched for on a web that has more.
      if (what === 'claims')
        web.pages = new Map([...PAGES, [FOURTH, 'In a dry summer a tomato wants more.']]);
      if (what === step) await there(signal);
    };
    writers.responses.section = async (question) => {
      const written = await writers.pseudo.ask(question);
      return question.number === 1 ? { ...written, text: `${WRONG}\n\n${written.text ?? ''}` } : written;
    };
  });
}

const get = async (path: string) => (await service.call(workspace.key, 'GET', path)).body;

/** Cancels the run that hangs at a step. @returns what it was charged, and what it requested before and after */
async function cancelledAt(step: Step, begin: () => Promise<{ articleId: string; jobId: string }>) {
  const there = hangAt(step);
  const { articleId, jobId } = await begin();
  await there;
  const { status, currentStep } = await calls.readJob(workspace, jobId);
  if (status === 'RESEARCHING') expect(currentStep).toBe('research');
  const requested = (): number => web.searched.length + web.read.length + writers.asked.length;
  expect((await calls.cancel(workspace, jobId)).status).toBe(202);
  const before = requested();
  const job = await calls.untilFinal(workspace, jobId);
  expect(job).toMatchObject({ status: 'CANCELLED', consumedCredits: 0 });
  expect(requested()).toBe(before);
  const types = await calls.eventTypes(articleId);
  const open = await service.db
    .selectFrom('holds')
    .select('id')
    .where('run_id', '=', jobId as JobId)
    .where('status', '=', 'open')
    .execute();
  expect(open).toEqual([]);
  return { status, types, articleId };
}

// contract.md N22, N28 and N32
describe('a run that is cancelled', () => {
  it.each<[Step, JobStatus]>([
    ['questions', 'RESEARCHING'],
    ['searching', 'RESEARCHING'],
    ['reading', 'RESEARCHING'],
    ['notes', 'RESEARCHING'],
    ['outline', 'OUTLINING'],
    ['plan', 'WRITING'],
    ['section', 'WRITING'],
    ['edits', 'WRITING'],
    ['claims', 'WRITING'],
    ['evidence', 'WRITING'],
    ['pages of evidence', 'WRITING'],
    ['verdicts', 'WRITING'],
    ['corrections', 'WRITING'],
    ['lead', 'WRITING'],
  ])('at %s ends at once, is charged nothing and leaves the article no source', async (step, expected) => {
    const { status, types, articleId } = await cancelledAt(step, async () => {
      const { article, job } = await calls.generate(workspace, settings);
      return { articleId: article.id, jobId: job.id };
    });
    expect(status).toBe(expected);
    expect(types).not.toContain('credits.consumed');
    expect(await calls.readWallet(workspace)).toEqual({ balance: 40, reserved: 0, available: 40 });
    expect(await get(`/api/articles/${articleId}/sources`)).toEqual({ sources: [] });
    expect(await get(`/api/articles/${articleId}/claims`)).toEqual({ claims: [] });
  });

  it.each<Step>(['searching', 'notes', 'outline'])('at %s of an outline is charged nothing', async (step) => {
    const { articleId } = await cancelledAt(step, async () => {
      const { article, job } = await calls.generate(workspace, { ...settings, reviewOutline: true });
      return { articleId: article.id, jobId: job.id };
    });
    expect(await calls.readWallet(workspace)).toEqual({ balance: 40, reserved: 0, available: 40 });
    expect(await get(`/api/articles/${articleId}/sources`)).toEqual({ sources: [] });
  });

  it('at a section, evidence, pages of evidence or verdicts of an approved outline leaves the outline charged, with its sources and nothing else', async () => {
    const { article, job } = await calls.generateTo(workspace, { ...settings, reviewOutline: true });
    expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
    const { sources } = await get(`/api/articles/${article.id}/sources`);
    for (const step of ['section', 'evidence', 'pages of evidence', 'verdicts'] as const) {
      resetResearch(web);
      const { types } = await cancelledAt(step, async () => {
        writers.asked = [];
        const { etag } = await calls.outline(workspace, article.id);
        const { body } = await calls.approve(workspace, article.id, etag);
        return { articleId: article.id, jobId: body.job.id };
      });
      const charged = types.filter((type) => type === 'credits.consumed');
      expect(charged, step).toHaveLength(1);
      expect(await calls.readWallet(workspace), step).toEqual({ balance: 39, reserved: 0, available: 39 });
      expect((await get(`/api/articles/${article.id}/sources`)).sources, step).toEqual(sources);
      expect(await get(`/api/articles/${article.id}/claims`), step).toEqual({ claims: [] });
    }
  });
});

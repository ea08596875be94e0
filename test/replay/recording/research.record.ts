import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { JobId } from '../../../src/ids.ts';
import { generationWorkflowId } from '../../../src/temporal/ids.ts';
import { createStandInWriter, generating } from '../../support/generating.ts';
import { createStandInResearch, resetResearch } from '../../support/researching.ts';
import { type TestWorkspace, useTestService } from '../../support/service.ts';
import { hang } from '../../support/translating.ts';
import { eventually } from '../../support/wait.ts';
import { recordHistory } from './history.ts';

const service = useTestService({ WEB_RESEARCH: 'true', FACT_CHECKING: 'true' });
const writers = createStandInWriter();
const web = createStandInResearch();
let workspace: TestWorkspace;
let calls: ReturnType<typeof generating>;
const record = (job: { id: string }, scenario: string) =>
  recordHistory(generationWorkflowId(job.id as JobId), `generateArticle/${scenario}`);
const settings = { topic: 'Watering tomatoes', imageCount: 0, researchEnabled: true };

beforeAll(async () => {
  calls = generating(service);
  workspace = await service.workspace(1_000);
  await service.startWorker({ writers, research: web });
});
beforeEach(() => resetResearch(web));

it('researched, then checked', async () => {
  const { job } = await calls.generateTo(workspace, settings);
  expect(job.consumedCredits).toBe(5);
  await record(job, 'researched-and-checked');
});

it('researched for an outline, and checked after its approval', async () => {
  const { article, job } = await calls.generateTo(workspace, { ...settings, reviewOutline: true });
  await record(job, 'outline-researched');
  const { etag } = await calls.outline(workspace, article.id);
  await record((await calls.approve(workspace, article.id, etag)).body.job, 'resumed-and-checked');
});

it('completed without research, since the search engine is away', async () => {
  web.away = true;
  const { job } = await calls.generateTo(workspace, settings);
  expect(job.consumedCredits).toBe(1);
  await record(job, 'search-away');
});

it('completed without research and facts, since their steps fail', async () => {
  writers.behave = async (what) => {
    if (['questions', 'notes', 'claims', 'verdicts', 'corrections'].includes(what)) {
      throw new TypeError('not what it should be');
    }
  };
  const { job } = await calls.generateTo(workspace, settings);
  expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
  await record(job, 'completed-without-research');
  writers.behave = async () => undefined;
});

it('cancelled while it searches', async () => {
  web.waits = (signal) => hang(signal);
  const { job } = await calls.generate(workspace, settings);
  await eventually(
    async () => web.searched.length,
    (count) => count > 0,
  );
  await calls.cancel(workspace, job.id);
  await record(job, 'cancelled-while-researching');
});

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import { mapTexts } from '../../src/document/format/walk.ts';
import type { Job } from '../../src/jobs/schemas.ts';
import { controlSteps, RESEARCHED_STEPS } from '../generation/support/steps.ts';
import { partsAskedAgain, startWritingModel } from '../generation/support/writing-model.ts';
import { listenToAll } from '../support/events.ts';
import { config, generating } from '../support/generating.ts';
import { openJobs } from '../support/jobs.ts';
import { type ServiceProcess, startProcess } from '../support/processes.ts';
import { type Answer, useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

/** `node soak/generation-kills.ts` runs this with a hundred. */
const KILLS = Number(process.env.GENERATION_KILLS ?? 1);
/** Half of the articles are researched, in one go and by an outline. */
const isResearched = (number: number): boolean => number % 2 === 0;
/** Articles that are under way at once. */
const AT_ONCE = 4;

const FEATURES = { WEB_RESEARCH: 'true', FACT_CHECKING: 'true', SEARCH_PROVIDER: 'pseudo' };
const service = useTestService({ UNBILLED_LIMIT_WORDS: '0', ...FEATURES });

/** An article on its way: what comes next follows from the job that has ended. */
interface OnItsWay {
  readonly number: number;
  readonly article: Article;
  job: Job;
  stage: 'outline' | 'article' | 'translation' | 'refresh';
  version: Article | null;
  isOver: boolean;
}

// contract.md G19
it('generations whose worker is killed again and again are charged once each, and request at most the part in flight again', {
  timeout: 90_000 + KILLS * 40_000,
}, async () => {
  const calls = generating(service);
  const workspace = await service.workspace(KILLS * AT_ONCE * 20);
  await listenToAll(service.db, workspace.id);
  const project = await service.project(workspace);
  const { balance } = await calls.readWallet(workspace);
  const model = await startWritingModel({ delayMs: 150 });
  const env = { ...service.env, ...FEATURES, ...model.env };
  const start = (): Promise<ServiceProcess> => startProcess('worker.ts', env);
  let worker = await start();
  const steps = await controlSteps(service.db);
  const all: OnItsWay[] = [];

  /** An article in one go, by a request that is sent twice, or by an outline that is approved. */
  const begin = async (): Promise<void> => {
    const number = all.length;
    const body = {
      generationConfig: {
        ...config,
        topic: isResearched(number)
          ? `Watering tomatoes, garden number ${number}`
          : `Garden number ${number}`,
        researchEnabled: isResearched(number),
        faq: number % 3 === 0,
        reviewOutline: number % 4 > 1,
      },
      idempotencyKey: `kills-${String(number).padStart(5, '0')}`,
    };
    const requests = Array.from({ length: number % 4 === 1 ? 2 : 1 }, () =>
      calls.request(workspace, project, body),
    );
    const answers = (await Promise.all(requests)).map((answer) => answer.body);
    expect(new Set(answers.map(({ job }) => job.id)).size).toBe(1);
    const { article, job } = answers[0];
    const stage = body.generationConfig.reviewOutline ? 'outline' : 'article';
    all.push({ number, article, job, stage, version: null, isOver: false });
  };

  /** An accepted request. A busy machine may refuse one for now; a client comes again. */
  const accepted = async (ask: () => Promise<Answer>) => {
    const answer = await eventually(ask, ({ status }) => status !== 503);
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    return answer.body;
  };

  /** Does what comes after an ended job: an outline is approved, some articles are translated, changed and refreshed. */
  const follow = async (each: OnItsWay): Promise<boolean> => {
    const { id } = each.article;
    if (each.stage === 'outline') {
      const { etag } = await calls.outline(workspace, id);
      const { job } = await accepted(() => calls.approve(workspace, id, etag));
      Object.assign(each, { stage: 'article', job });
    } else if (each.stage === 'article' && each.number % 4 === 3) {
      const { job, article } = await accepted(() => calls.requestTranslation(workspace, id));
      Object.assign(each, { stage: 'translation', job, version: article });
    } else if (each.stage === 'translation' && each.version !== null) {
      const { documentJson } = await calls.readArticle(workspace, id);
      const changed = mapTexts(documentJson, ({ text }) => ({ text: `${text} again` }));
      expect((await calls.save(workspace, id, changed)).status).toBe(200);
      const { key } = workspace;
      const path = `/api/articles/${each.version.id}/refresh`;
      const { job } = await accepted(() => service.call(key, 'POST', path));
      Object.assign(each, { stage: 'refresh', job });
    } else return false;
    return true;
  };
  const goOn = async (): Promise<number> => {
    const ids = all.filter(({ isOver }) => !isOver).map(({ job }) => job.id);
    const working = new Set((await openJobs(service.db, ids)).map(({ id }): string => id));
    for (const each of all) {
      if (each.isOver || working.has(each.job.id)) continue;
      each.job = await calls.readJob(workspace, each.job.id);
      each.isOver = each.job.status !== 'COMPLETED' || !(await follow(each));
    }
    return all.filter(({ isOver }) => !isOver).length;
  };

  for (let kill = 1; kill <= KILLS; kill += 1) {
    for (let open = await goOn(); open < AT_ONCE; open += 1) await begin();
    const progress = model.asked.length;
    const killWhen = async (isTime: () => Promise<boolean>): Promise<void> => {
      await eventually(
        async () => (await goOn()) === 0 || (await isTime()),
        (enough) => enough,
        90_000,
      );
      worker.kill('SIGKILL');
      await worker.ended;
    };
    // While the model is asked, and in turn as a run enters each of the steps, in the middle of the statement.
    const step = kill % 2 === 0 ? RESEARCHED_STEPS[(kill / 2) % RESEARCHED_STEPS.length] : undefined;
    if (step === undefined) await killWhen(async () => model.asked.length > progress + 2 + (kill % 7));
    else await steps.hold(step, () => killWhen(async () => (await steps.held()) > 0));
    worker = await start();
  }
  await eventually(goOn, (open) => open === 0, 240_000);
  worker.kill('SIGTERM');
  await worker.ended;

  // Of each article, a kill costs the part that was being written and no other.
  for (const topic of new Set(model.asked.map((question) => question.topic))) {
    const asked = model.asked.filter((question) => question.topic === topic);
    expect(partsAskedAgain(asked), `asked again for ${topic}`).toBeLessThanOrEqual(KILLS);
  }
  expect(partsAskedAgain(model.asked)).toBeLessThanOrEqual(KILLS * AT_ONCE);

  const jobs = await service.db
    .selectFrom('jobs')
    .leftJoin('holds', 'holds.run_id', 'jobs.id')
    .leftJoin('ledger_entries', 'ledger_entries.hold_id', 'holds.id')
    .select(['jobs.id', 'jobs.purpose', 'jobs.status', 'jobs.consumed_credits', 'ledger_entries.amount'])
    .where('jobs.workspace_id', '=', workspace.id)
    .execute();
  for (const job of jobs) {
    expect(job.status).toBe('COMPLETED');
    expect((job.amount ?? 0) + job.consumed_credits, job.purpose).toBe(0);
    if (job.purpose !== 'generate' && job.purpose !== 'outline') continue;
    // Charged is what the report says was delivered.
    const { report } = (await service.call(workspace.key, 'GET', `/api/jobs/${job.id}/report`)).body;
    const research = report.research?.delivered === true ? 1 : 0;
    const facts = (report.facts?.compared ?? 0) > 0 ? 3 : 0;
    expect(job.consumed_credits).toBe((job.purpose === 'generate' ? 1 : 0) + research + facts);
  }
  expect(jobs.filter(({ purpose }) => purpose === 'generate')).toHaveLength(all.length);
  const delivered = jobs.map(({ consumed_credits }) => consumed_credits);
  if (all.some(({ number }) => isResearched(number))) expect(Math.max(...delivered)).toBeGreaterThan(3);
  const requested = await sql<{ tries: number; searches: number; pages: number }>`
    SELECT max(tries) AS tries, max(searches) AS searches, max(pages) AS pages FROM (
      SELECT max(tries) AS tries, count(*) AS searches, 0 AS pages FROM generation_searches GROUP BY job_id, purpose
      UNION ALL SELECT max(tries), 0, count(*) FROM generation_pages GROUP BY job_id, purpose) AS own`.execute(
    service.db,
  );
  const [most] = requested.rows;
  expect(Number(most?.tries)).toBeLessThanOrEqual(3);
  expect(Number(most?.searches)).toBeLessThanOrEqual(20);
  expect(Number(most?.pages)).toBeLessThanOrEqual(20);
  for (const { article, number } of all) {
    expect(await calls.readArticle(workspace, article.id)).toMatchObject({ status: 'NEEDS_REVIEW' });
    const types = await calls.eventTypes(article.id);
    for (const once of ['article.created', 'article.generation.completed']) {
      expect(types.filter((type) => type === once)).toHaveLength(1);
    }
    // An outline run is charged its research alone.
    const charges = types.filter((type) => type === 'credits.consumed').length;
    expect(charges).toBeGreaterThanOrEqual(1);
    expect(charges).toBeLessThanOrEqual(isResearched(number) && number % 4 > 1 ? 2 : 1);
  }
  const charged = jobs.reduce((sum, job) => sum + job.consumed_credits, 0);
  const left = balance - charged;
  expect(await calls.readWallet(workspace)).toEqual({ balance: left, reserved: 0, available: left });
  const { sum } = await service.db
    .selectFrom('ledger_entries')
    .select((eb) => eb.fn.sum<string>('amount').as('sum'))
    .where('workspace_id', '=', workspace.id)
    .executeTakeFirstOrThrow();
  expect(Number(sum)).toBe(left);
  await model.close();
});

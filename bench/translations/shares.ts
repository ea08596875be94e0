/**
 * What the queues of many cost an article of a workspace that has no other: its time alone, and
 *  1. beside a workspace with 100 queued jobs that the engine answers with 429 throughout;
 *  2. beside 20 workspaces with 100 queued jobs each.
 * The engine takes 2 s for each call, on a timer. One worker, as shipped. A job counts from the request that creates it to
 * its end, seen within 50 ms.
 *
 * Environment: BENCH_ROUNDS (3), BENCH_WORKSPACES (20), BENCH_JOBS (100), BENCH_DELAY_MS (2000).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startEphemeralEngines } from '../../soak/support/engines.ts';
import { print, setting } from '../../soak/support/report.ts';
import { createScriptService, type ScriptWorkspace } from '../../soak/support/service.ts';
import { createTranslations, untilEnded } from '../../soak/support/translations.ts';
import { pseudoCompletion } from '../../test/support/chat-completions.ts';
import { startEngineServer } from '../../test/support/engine-server.ts';
import { eventually } from '../../test/support/wait.ts';
import { report } from '../lib/suite.ts';

const ROUNDS = setting('BENCH_ROUNDS', 3);
const WORKSPACES = setting('BENCH_WORKSPACES', 20);
const JOBS = setting('BENCH_JOBS', 100);
const DELAY_MS = setting('BENCH_DELAY_MS', 2_000);
/** Of the many, enough for four calls at once. */
const WORDS = { ofOne: 4_000, ofMany: 1_600 };
/** Concurrent requests for jobs. */
const CALLERS = 8;
/** Runs of each workspace that are under way when the measurement begins. */
const UNDER_WAY = 1;
const PROMISED = { beside: 3, limited: 1.5 };

/** What the engine answers with 429 while it limits one workspace: its texts. */
const LIMITED = 'A garden that waits';
let limits = false;
/** Requests that the engine answered with 429. */
let refused = 0;
const model = await startEngineServer(async (request) => {
  model.requests.length = 0;
  if (limits && request.body.includes(LIMITED)) {
    refused += 1;
    return { status: 429, body: { error: { code: 'rate_limit_exceeded' } } };
  }
  await sleep(DELAY_MS);
  return pseudoCompletion(request);
});
const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const translations = await createTranslations(service);
const one = await service.workspace('One');
const many: ScriptWorkspace[] = [];
for (let each = 0; each < WORKSPACES; each += 1) many.push(await service.workspace(`Many ${each}`));
const startWorker = () =>
  service.startWorker({
    TRANSLATION_PROVIDER: 'openai-compatible',
    AI_BASE_URL: model.url,
    AI_MODEL: 'stand-in',
  });

/** Seconds that the only job of a workspace takes, in each round. */
async function measure(name: string): Promise<number[]> {
  const taken: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { jobId, requestedAt } = await translations.translate(one, WORDS.ofOne);
    const { status } = await untilEnded(service.db, jobId, 120_000);
    if (status !== 'COMPLETED') throw new Error(`the job ended ${status}`);
    taken.push((performance.now() - requestedAt) / 1_000);
  }
  print(`${name}: ${taken.map((seconds) => seconds.toFixed(2)).join(', ')} s`);
  return taken;
}

/** Queues all jobs of these workspaces, one of each after the other. */
async function queue(workspaces: readonly ScriptWorkspace[], title?: string): Promise<void> {
  const startedAt = performance.now();
  const jobs = Array.from({ length: JOBS }, () => workspaces).flat();
  const caller = async (): Promise<void> => {
    for (let next = jobs.pop(); next !== undefined; next = jobs.pop()) {
      await translations.translate(next, WORDS.ofMany, title);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const seconds = (performance.now() - startedAt) / 1_000;
  print(`${workspaces.length * JOBS} queued in ${seconds.toFixed(0)} s`);
}

/** How many jobs of each workspace are under way, or wait. */
async function openJobs(status: 'under way' | 'waiting'): Promise<Map<string, number>> {
  const rows = await service.db
    .selectFrom('jobs')
    .select(['workspace_id', ({ fn }) => fn.countAll<number | string>().as('count')])
    .where('ended_at', 'is', null)
    .where('status', status === 'waiting' ? '=' : '!=', 'QUEUED')
    .groupBy('workspace_id')
    .execute();
  return new Map(rows.map(({ workspace_id, count }) => [workspace_id, Number(count)]));
}
const untilMostAreUnderWay = (workspaces: readonly ScriptWorkspace[]) =>
  eventually(
    () => openJobs('under way'),
    (open) =>
      workspaces.reduce((sum, { id }) => sum + (open.get(id) ?? 0), 0) >= workspaces.length * UNDER_WAY,
    60_000,
  );

try {
  const worker = await startWorker();
  await translations.translate(one, 500).then(({ jobId }) => untilEnded(service.db, jobId, 60_000));
  const alone = await measure('alone');
  const [first, ...others] = many;
  if (first === undefined) throw new Error('no workspace');
  limits = true;
  await queue([first], LIMITED);
  await untilMostAreUnderWay([first]);
  const limitedAt = performance.now();
  refused = 0;
  const besideLimited = await measure('beside one that the engine limits');
  const refusedASecond = (refused * 1_000) / (performance.now() - limitedAt);
  limits = false;
  // Nothing is done while the queues fill, so that they are full when the measurement begins.
  worker.kill('SIGTERM');
  await worker.ended;
  await queue(others);
  await startWorker();
  await untilMostAreUnderWay(many);
  const beside = await measure(`beside ${WORKSPACES} workspaces`);
  const waiting = await openJobs('waiting');
  if (many.some(({ id }) => (waiting.get(id) ?? 0) === 0)) throw new Error('a queue is empty; set more jobs');
  report(
    'shares',
    [
      {
        name: `an article beside ${WORKSPACES} workspaces of ${JOBS} queued jobs, s`,
        higherIsBetter: false,
        ours: beside,
        bare: alone,
        promised: PROMISED.beside,
      },
      {
        name: `an article beside a workspace that the engine answers with 429, s`,
        higherIsBetter: false,
        ours: besideLimited,
        bare: alone,
        promised: PROMISED.limited,
      },
    ],
    [{ name: 'requests a second that the engine answers with 429', values: [refusedASecond] }],
  );
} finally {
  await translations.close();
  await service.stop();
  await engines.stop();
  await model.close();
}

/**
 * What a workspace's queue costs another's only job: an article of 4,000 words with a language model that takes a second
 * for each call, alone, and while another workspace has 500 jobs of 1,000 words queued; on one worker, and on two.
 * A job counts from the request that creates it to its end, seen within 50 ms.
 *
 * Environment: BENCH_ROUNDS (3), BENCH_JOBS (500), BENCH_DELAY_MS (1000).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startEphemeralEngines } from '../../soak/support/engines.ts';
import { print, setting } from '../../soak/support/report.ts';
import { createScriptService } from '../../soak/support/service.ts';
import { createTranslations, untilEnded } from '../../soak/support/translations.ts';
import { pseudoCompletion } from '../../test/support/chat-completions.ts';
import { startEngineServer } from '../../test/support/engine-server.ts';
import { type Comparison, report } from '../lib/suite.ts';

const ROUNDS = setting('BENCH_ROUNDS', 3);
const JOBS = setting('BENCH_JOBS', 500);
const DELAY_MS = setting('BENCH_DELAY_MS', 1_000);
const WORDS = { ofOne: 4_000, ofMany: 1_000 };
/** Concurrent requests for jobs. */
const CALLERS = 8;
const PROMISED = 2;

const model = await startEngineServer(async (request) => {
  model.requests.length = 0;
  await sleep(DELAY_MS);
  return pseudoCompletion(request);
});
const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const translations = await createTranslations(service);
const one = await service.workspace('One');
const many = await service.workspace('Many');
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
    const { status } = await untilEnded(service.db, jobId, 240_000);
    if (status !== 'COMPLETED') throw new Error(`the job ended ${status}`);
    taken.push((performance.now() - requestedAt) / 1_000);
  }
  print(`${name}: ${taken.map((seconds) => seconds.toFixed(2)).join(', ')} s`);
  return taken;
}

async function queueMany(): Promise<void> {
  let left = JOBS;
  const caller = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      await translations.translate(many, WORDS.ofMany);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

/** How many of the many jobs have ended. */
async function endedOfMany(): Promise<number> {
  const { ended } = await service.db
    .selectFrom('jobs')
    .select(({ fn }) => fn.count<number>('ended_at').as('ended'))
    .where('workspace_id', '=', many.id)
    .executeTakeFirstOrThrow();
  return ended;
}

try {
  await startWorker();
  await translations.translate(one, 500).then(({ jobId }) => untilEnded(service.db, jobId, 60_000));
  const aloneOnOne = await measure('alone, one worker');
  const second = await startWorker();
  const aloneOnTwo = await measure('alone, two workers');
  const queuedAt = performance.now();
  await queueMany();
  print(`${JOBS} queued in ${((performance.now() - queuedAt) / 1_000).toFixed(0)} s`);
  const besideOnTwo = await measure('beside them, two workers');
  second.kill('SIGTERM');
  await second.ended;
  const besideOnOne = await measure('beside them, one worker');
  const ended = await endedOfMany();
  if (ended === JOBS) throw new Error('nothing was queued any more; set more jobs');
  const comparison = (workers: string, ours: number[], bare: number[]): Comparison => ({
    name: `the only job beside ${JOBS} of another workspace, ${workers}, s`,
    higherIsBetter: false,
    ours,
    bare,
    promised: PROMISED,
  });
  report(
    'turns',
    [comparison('1 worker', besideOnOne, aloneOnOne), comparison('2 workers', besideOnTwo, aloneOnTwo)],
    [
      {
        name: `jobs a minute of those ${JOBS}`,
        values: [(ended * 60_000) / (performance.now() - queuedAt)],
      },
    ],
  );
} finally {
  await translations.close();
  await service.stop();
  await engines.stop();
  await model.close();
}

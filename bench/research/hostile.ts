/**
 * What runs that read hostile pages cost another tenant: the times of GET /api/whoami by one key, and of translations of 300 words,
 * which the same worker makes, alone and while three runs of another tenant research a web of pages that hold up parsers, never end,
 * redirect inwards, or have rules that forbid or are made to be slow. Promised (contract.md N38) is that the 99th percentile of whoami
 * grows by 50 ms at most; and the memory of the worker is shown.
 *
 * Environment: BENCH_ROUNDS (3), BENCH_SECONDS (10) for each measurement.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { startEphemeralEngines, temporaryFolder } from '../../soak/support/engines.ts';
import { print, quantile, setting } from '../../soak/support/report.ts';
import { createScriptService, type ScriptWorkspace } from '../../soak/support/service.ts';
import { createTranslations, untilEnded } from '../../soak/support/translations.ts';
import { memory } from '../../soak/support/usage.ts';
import { createProject } from '../../src/projects/create.ts';
import { startChild } from '../lib/child.ts';
import { report } from '../lib/suite.ts';
import { startHostileWeb } from './hostile-web.ts';

const ROUNDS = setting('BENCH_ROUNDS', 3);
const MEASURED_MS = setting('BENCH_SECONDS', 10) * 1_000;
const RUNS_AT_ONCE = 3;
const EVERY_MS = 10;
const WORDS = 300;
const PROMISED_MS = 50;

const folder = temporaryFolder();
const web = await startHostileWeb();
const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const features = {
  WEB_RESEARCH: 'true',
  FACT_CHECKING: 'true',
  SEARCH_PROVIDER: 'searxng',
  SEARCH_BASE_URL: web.url,
  RESEARCH_ALLOWED_NETWORKS: '127.0.0.1/32',
  UNBILLED_LIMIT_WORDS: '0',
  RATE_LIMIT_PER_WORKSPACE: '0',
  DATA_DIR: folder.path,
};
const server = await startChild(new URL('../auth/service.ts', import.meta.url), {
  ...service.env,
  ...features,
  PORT: '0',
});
const worker = await service.startWorker(features);
const translations = await createTranslations(service);
const other = await service.workspace('Other');
const crowd: ScriptWorkspace[] = [];
for (let each = 0; each < RUNS_AT_ONCE; each += 1) crowd.push(await service.workspace(`Crowd ${each}`));
const pool = new Pool(server.url, { connections: 50, pipelining: 1, localAddress: '127.0.0.2' });

/** Times of whoami, in milliseconds, sent at a steady rate whether the earlier ones have returned or not. */
async function whoami(): Promise<number[]> {
  const pending: Promise<number>[] = [];
  for (const began = performance.now(); performance.now() - began < MEASURED_MS; await sleep(EVERY_MS)) {
    pending.push(
      (async () => {
        const startedAt = performance.now();
        const headers = { authorization: `Bearer ${other.key}` };
        const { statusCode, body } = await pool.request({ path: '/api/whoami', method: 'GET', headers });
        await body.dump();
        if (statusCode !== 200) throw new Error(`whoami got ${statusCode}`);
        return performance.now() - startedAt;
      })(),
    );
  }
  return Promise.all(pending);
}

/** Times of translations, one after the other. */
async function translate(): Promise<number[]> {
  const times: number[] = [];
  for (const began = performance.now(); performance.now() - began < MEASURED_MS; ) {
    const { jobId, requestedAt } = await translations.translate(other, WORDS);
    const { status } = await untilEnded(service.db, jobId, 120_000);
    if (status !== 'COMPLETED') throw new Error(`a translation ended ${status}`);
    times.push(performance.now() - requestedAt);
  }
  return times;
}

async function measure(): Promise<{ whoami: number; median: number; translation: number }> {
  const [requests, translated] = await Promise.all([whoami(), translate()]);
  return {
    whoami: quantile(requests, 0.99),
    median: quantile(requests, 0.5),
    translation: quantile(translated, 0.5),
  };
}

/** Runs that research, one after the other in each workspace, until it is told to end. */
function research(): { end(): Promise<string[]> } {
  let ends = false;
  const lane = async (workspace: ScriptWorkspace): Promise<string[]> => {
    const statuses: string[] = [];
    const projectId = await createProject(workspace.context, {
      name: 'Hostile',
      languages: ['en'],
      primaryLanguage: 'en',
    });
    while (!ends) {
      const { statusCode, body } = await pool.request({
        path: `/api/projects/${projectId}/articles/generate`,
        method: 'POST',
        headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          generationConfig: {
            topic: 'Drip hoses for tomatoes',
            wordCount: 300,
            writingQuality: 'standard',
            imageCount: 0,
            researchEnabled: true,
          },
        }),
      });
      const made = (await body.json()) as { job: { id: Parameters<typeof untilEnded>[1] } };
      if (statusCode !== 202) throw new Error(`a run got ${statusCode}: ${JSON.stringify(made)}`);
      statuses.push((await untilEnded(service.db, made.job.id, 300_000)).status);
    }
    return statuses;
  };
  const lanes = crowd.map(lane);
  return {
    async end() {
      ends = true;
      return (await Promise.all(lanes)).flat();
    },
  };
}

const alone: Awaited<ReturnType<typeof measure>>[] = [];
const beside: Awaited<ReturnType<typeof measure>>[] = [];
const statuses: string[] = [];
await measure();
for (let round = 0; round < ROUNDS; round += 1) {
  alone.push(await measure());
  const runs = research();
  for (const before = web.requested(); web.requested() < before + 5; ) await sleep(50);
  beside.push(await measure());
  statuses.push(...(await runs.end()));
  print(
    `round ${round + 1}: whoami p99 ${alone.at(-1)?.whoami.toFixed(1)} ms alone, ${beside.at(-1)?.whoami.toFixed(1)} ms beside; ` +
      `translations ${alone.at(-1)?.translation.toFixed(0)} ms and ${beside.at(-1)?.translation.toFixed(0)} ms; ${web.requested()} pages so far`,
  );
}
const reads = await service.db
  .selectFrom('generation_pages')
  .select(['refusal', ({ fn }) => fn.countAll<number | string>().as('pages')])
  .groupBy('refusal')
  .orderBy('refusal')
  .execute();
print(`runs: ${statuses.join(', ')}`);
print(`pages: ${reads.map(({ refusal, pages }) => `${pages} ${refusal ?? 'read'}`).join(', ')}`);
const { highest } = memory(worker.pid);
await pool.close();
await server.stop();
await translations.close();
await service.stop();
await engines.stop();
await web.close();
folder.remove();

const of = (some: typeof alone, name: keyof (typeof alone)[number]): number[] =>
  some.map((each) => each[name]);
report(
  'hostile',
  [
    {
      name: 'whoami beside hostile pages and alone, p99, ms',
      higherIsBetter: false,
      ours: of(beside, 'whoami'),
      bare: of(alone, 'whoami'),
    },
    {
      name: 'a translation beside hostile pages and alone, median, ms',
      higherIsBetter: false,
      ours: of(beside, 'translation'),
      bare: of(alone, 'translation'),
    },
  ],
  [
    { name: 'hostile pages: whoami beside, median, ms', values: of(beside, 'median') },
    { name: 'hostile pages: most memory of the worker, MiB', values: [highest] },
  ],
);
const grown = quantile(of(beside, 'whoami'), 0.5) - quantile(of(alone, 'whoami'), 0.5);
if (grown > PROMISED_MS || statuses.some((status) => status !== 'COMPLETED')) {
  print(
    `\nMissed: p99 grown by ${grown.toFixed(0)} ms, promised at most ${PROMISED_MS}; runs ${statuses.join(', ')}`,
  );
  process.exitCode = 1;
}

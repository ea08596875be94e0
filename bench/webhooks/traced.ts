/**
 * What traces cost single events: from POST of an article to the receiver, through two `npm start` in turns, one of them
 * traced, each with engines of its own. Events a second by 32 callers, and the CPU time of server and worker for one.
 *
 * Environment: BENCH_ROUNDS (3), BENCH_EVENTS (1500) of a round.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { temporaryFolder } from '../../soak/support/engines.ts';
import { setting } from '../../soak/support/report.ts';
import { createScriptService, untilDelivered } from '../../soak/support/service.ts';
import { readStackRecord } from '../../src/local/stack-file.ts';
import { createProject } from '../../src/projects/create.ts';
import { launch, ready } from '../../test/support/start.ts';
import { cpuTimeOf } from '../lib/cpu.ts';
import { alternate, report } from '../lib/suite.ts';
import { startSink } from './receiving.ts';

const ROUNDS = setting('BENCH_ROUNDS', 3);
const EVENTS = setting('BENCH_EVENTS', 1_500);
const CALLERS = 32;
const DEADLINE_MS = 120_000;
/** What tracing may take of each event: of its request and of its attempt (contract.md O6). */
const TRACING_MS = 0.3;
/** Until the last spans are sent, which belong to the round. */
const SENT_MS = 2_500;

/** A whole service, with a receiver that is always the same. */
async function startSide(env: Record<string, string>) {
  const folder = temporaryFolder();
  const start = launch('src/local/main.ts', {
    DATA_DIR: folder.path,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    RATE_LIMIT_PER_KEY: '0',
    RATE_LIMIT_PER_WORKSPACE: '0',
    RATE_LIMIT_PER_ADDRESS: '0',
    METRICS_PORT: '0',
    ...env,
  });
  const url = await ready(start);
  const stack = readStackRecord(folder.path);
  if (!stack?.postgres || !stack.temporal) throw new Error('stack.json does not name both engines');
  const engines = [stack.postgres.process.pid, stack.temporal.process.pid];
  const script = createScriptService({
    databaseUrl: stack.postgres.databaseUrl,
    temporalAddress: stack.temporal.address,
    workflowBundle: '',
  });
  const sink = await startSink(1);
  const workspace = await script.workspace('Bench');
  await script.register(workspace, sink.urls[0] ?? '');
  const projectId = await createProject(workspace.context, {
    name: 'Bench',
    languages: ['en'],
    primaryLanguage: 'en',
  });
  /** CPU milliseconds of server and worker: both engines are their children. */
  const cpuTime = (): number =>
    engines.reduce((rest, pid) => rest - cpuTimeOf(pid), cpuTimeOf(start.child.pid ?? 0));
  const cpu: number[] = [];

  const create = async (pool: Pool, title: string): Promise<void> => {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: `/api/projects/${projectId}/articles`,
      headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ title }),
    });
    const text = await body.text();
    if (statusCode !== 201) throw new Error(`${statusCode} ${text}`);
  };

  /** Until all has arrived and is recorded. @returns when the last arrived, in milliseconds since the epoch */
  const arrived = async (): Promise<number> => {
    for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await sleep(50)) {
      const { count, lastAt } = await sink.count();
      if (count < EVENTS) continue;
      await untilDelivered(script.db, 50);
      return lastAt;
    }
    throw new Error(`not all of ${EVENTS} arrived`);
  };

  return {
    cpu,
    /** Events a second. */
    async rate(): Promise<number> {
      await sink.clear();
      const pool = new Pool(url, { connections: CALLERS });
      const before = cpuTime();
      const startedAt = Date.now();
      let left = EVENTS;
      const caller = async () => {
        for (; left > 0; ) {
          left -= 1;
          await create(pool, `What to plant in week ${left}`);
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
      const lastAt = await arrived();
      await sleep(SENT_MS);
      cpu.push((cpuTime() - before) / EVENTS);
      await pool.close();
      return (EVENTS * 1_000) / (lastAt - startedAt);
    },
    async stop() {
      await script.stop();
      await sink.close();
      start.child.kill('SIGTERM');
      await start.ended;
      folder.remove();
    },
  };
}

const collector = await startSink(1);
const off = await startSide({});
const on = await startSide({ OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.urls[0] ?? '').origin });
try {
  for (const side of [off, on]) await side.rate();
  for (const { cpu } of [off, on]) cpu.length = 0;
  const rates = await alternate(ROUNDS, { ours: on.rate, bare: off.rate });
  if ((await collector.count()).count === 0) throw new Error('nothing was traced');
  report('traced', [
    {
      name: `created to received traced and not, ${CALLERS} callers, events/s`,
      higherIsBetter: true,
      ...rates,
    },
    { name: 'CPU of server and worker, ms an event', higherIsBetter: false, ours: on.cpu, bare: off.cpu },
    {
      name: `CPU of tracing an event, of ${TRACING_MS} ms, ms`,
      higherIsBetter: false,
      promised: 1,
      ours: on.cpu.map((time, round) => time - (off.cpu[round] ?? Number.NaN)),
      bare: on.cpu.map(() => TRACING_MS),
    },
  ]);
} finally {
  await Promise.all([off.stop(), on.stop()]);
  await collector.close();
}

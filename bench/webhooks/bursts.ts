/**
 * Bursts: the rate at which a backlog is delivered, to one endpoint and to many, beside bare one-activity runs on the
 * same Temporal server and beside a bare loop over an outbox in the same Postgres; and the time from storing an event
 * to its arrival at steady paces. All of it with bursts, and in the same run without them.
 *
 * Environment: BENCH_ROUNDS (3), BENCH_SMALL (5000), BENCH_LARGE (20000), BENCH_SECONDS (20) of each pace.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startEphemeralEngines } from '../../soak/support/engines.ts';
import { print } from '../../soak/support/report.ts';
import { createScriptService, type ScriptWorkspace } from '../../soak/support/service.ts';
import { type Comparison, type Figure, report } from '../lib/suite.ts';
import { startBaseline } from './bare/baseline.ts';
import { startBareLoop } from './bare/outbox.ts';
import { startSink } from './receiving.ts';

const count = (name: string, value: number): number => Number(process.env[name] ?? value);
const ROUNDS = count('BENCH_ROUNDS', 3);
const SMALL = count('BENCH_SMALL', 5_000);
const LARGE = count('BENCH_LARGE', 20_000);
const SECONDS = count('BENCH_SECONDS', 20);
const MANY = 100;
const BARE = 400;
const CONCURRENCY = 64;
const SINGLES = 15;
const PACES = [10, 100, 300];
const DEADLINE_MS = 120_000;

const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const sink = await startSink(MANY + 1);
const baseline = await startBaseline(engines);
const loop = await startBareLoop(engines.databaseUrl);

const arrived = async (wanted: number) => {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const seen = await sink.count();
    if (seen.count >= wanted) return seen;
    if (Date.now() > deadline) throw new Error(`${seen.count} of ${wanted} arrived`);
    await sleep(50);
  }
};

/** Until nothing is left of a measurement that could disturb the next. */
async function settled(): Promise<void> {
  for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await sleep(100)) {
    const open = await service.db
      .selectFrom('webhook_deliveries')
      .select('id')
      .where('ended_at', 'is', null)
      .limit(1)
      .executeTakeFirst();
    if (open === undefined) return;
  }
  throw new Error('deliveries stayed open');
}

/** Stores a backlog, a transaction for each workspace, and returns the rate from then to the last arrival, per second. */
async function backlog(workspaces: readonly ScriptWorkspace[], size: number): Promise<number> {
  await sink.clear();
  await Promise.all(workspaces.map((workspace) => service.emit(workspace, size / workspaces.length)));
  const storedAt = Date.now();
  const { lastAt } = await arrived(size);
  await settled();
  return (size * 1_000) / (lastAt - storedAt);
}

/** Stores single events at a steady pace and returns the milliseconds from each call to the event's arrival. */
async function paced(workspace: ScriptWorkspace, perSecond: number, events: number): Promise<number[]> {
  await sink.clear();
  const called = new Map<string, number>();
  const calls: Promise<void>[] = [];
  const startedAt = Date.now();
  for (let index = 0; index < events; index += 1) {
    await sleep(Math.max(0, startedAt + (index * 1_000) / perSecond - Date.now()));
    const calledAt = Date.now();
    calls.push(service.emit(workspace).then(({ articleIds: [id = ''] }) => void called.set(id, calledAt)));
  }
  await Promise.all(calls);
  await arrived(events);
  await settled();
  return (await sink.report()).map(({ at, articleId }) => at - (called.get(articleId) ?? Number.NaN));
}

const comparisons: Comparison[] = [];
const figures: Figure[] = [];
try {
  const [first = '', ...others] = sink.urls;
  const one = await service.workspace('One');
  await service.register(one, first);
  const many: ScriptWorkspace[] = [];
  for (const url of others) {
    const workspace = await service.workspace('Many');
    await service.register(workspace, url);
    many.push(workspace);
  }

  const shapes = [
    [`${SMALL} to one endpoint`, [one], SMALL],
    [`${LARGE} to one endpoint`, [one], LARGE],
    [`${SMALL} to ${MANY} endpoints`, many, SMALL],
    [`${LARGE} to ${MANY} endpoints`, many, LARGE],
  ] as const;
  const rates = new Map<string, number[]>();
  const add = (name: string, value: number) => {
    rates.set(name, [...(rates.get(name) ?? []), value]);
    print(`${name}: ${value.toFixed(0)}/s`);
  };
  const latencies = async (how: string, paces: readonly number[], seconds: number) => {
    figures.push({ name: `store to receive at 1/s, ms, ${how}`, values: await paced(one, 1, SINGLES) });
    for (const pace of paces) {
      const values = await paced(one, pace, pace * seconds);
      figures.push({ name: `store to receive at ${pace}/s, ms, ${how}`, values });
      print(`${pace} a second, ${how}: measured`);
    }
  };

  const withBursts = await service.startWorker();
  await backlog([one], SMALL);
  await backlog(many, SMALL);
  await baseline.plain(BARE / 2, CONCURRENCY);
  await loop.rate(SMALL, first);
  for (let round = 1; round <= ROUNDS; round += 1) {
    print(`round ${round} of ${ROUNDS}`);
    add('bare runs', (BARE * 1_000) / (await baseline.plain(BARE, CONCURRENCY)).tookMs);
    for (const [name, workspaces, size] of shapes) add(name, await backlog(workspaces, size));
    add('bare loop', await loop.rate(LARGE, first));
  }
  await latencies('with bursts', PACES, SECONDS);
  withBursts.kill('SIGTERM');
  await withBursts.ended;

  await service.startWorker({ WEBHOOK_BURST_THRESHOLD: '0' });
  await backlog([one], 200);
  for (let round = 1; round <= ROUNDS; round += 1) add('without bursts', await backlog([one], BARE));
  // What a run each can't keep up with is bounded in time: the rest would only queue.
  await latencies('without bursts', PACES, 5);

  const rate = (name: string) => rates.get(name) ?? [];
  for (const [name] of shapes) {
    const ours = rate(name);
    comparisons.push(
      {
        name: `${name}, deliveries/s, bare runs/s`,
        ours,
        bare: rate('bare runs'),
        higherIsBetter: true,
        promised: 10,
      },
      { name: `${name}, deliveries/s, bare loop`, ours, bare: rate('bare loop'), higherIsBetter: true },
    );
  }
  comparisons.push({
    name: 'without bursts, deliveries/s, bare runs/s',
    ours: rate('without bursts'),
    bare: rate('bare runs'),
    higherIsBetter: true,
  });
  report('bursts', comparisons, figures);
} finally {
  await loop.stop();
  await baseline.stop();
  await service.stop();
  await sink.close();
  await engines.stop();
}

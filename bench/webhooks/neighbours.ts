/**
 * What one tenant's receivers cost another: the time of single events from their commit to the receiver, alone, beside
 * 50 endpoints of one tenant that hang, and beside 20,000 deliveries that its receiver has refused, and that come back
 * and hang.
 *
 * Environment: BENCH_SAMPLES (3000), BENCH_PER_SECOND (100), BENCH_REFUSED (20000).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startDurableEngines } from '../../soak/support/durable-engines.ts';
import { print, quantile, setting } from '../../soak/support/report.ts';
import { createScriptService, type ScriptWorkspace } from '../../soak/support/service.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import { type Comparison, type Figure, report } from '../lib/suite.ts';
import { startSink } from './receiving.ts';

const SAMPLES = setting('BENCH_SAMPLES', 3_000);
const PER_SECOND = setting('BENCH_PER_SECOND', 100);
const REFUSED = setting('BENCH_REFUSED', 20_000);
const HANGING = 50;
/** For each endpoint that hangs. */
const WAITING = 200;
/** Longer than an attempt may take. */
const HANG_MS = 20_000;
const SETTLE_MS = 3_000;
const DEADLINE_MS = 60_000;

const engines = await startDurableEngines();
const service = createScriptService(engines);
const sink = await startSink(1);
const receiver = await startReceiver();
let isRefusing = false;
receiver.answer = () => {
  receiver.received.length = 0;
  return isRefusing ? 503 : sleep(HANG_MS, 204, { ref: false });
};

/** Milliseconds from each event's commit to its arrival, at a steady pace. */
async function sample(workspace: ScriptWorkspace): Promise<number[]> {
  await sink.clear();
  const committed = new Map<string, number>();
  const calls: Promise<void>[] = [];
  const startedAt = Date.now();
  for (let index = 0; index < SAMPLES; index += 1) {
    await sleep(Math.max(0, startedAt + (index * 1_000) / PER_SECOND - Date.now()));
    const store = async () => {
      const { articleIds, committedAt } = await service.emit(workspace);
      for (const id of articleIds) committed.set(id, committedAt);
    };
    calls.push(store());
  }
  await Promise.all(calls);
  for (const deadline = Date.now() + DEADLINE_MS; (await sink.count()).count < SAMPLES; await sleep(50)) {
    if (Date.now() > deadline) throw new Error('not all samples arrived');
  }
  return (await sink.report()).map(({ at, articleId }) => at - (committed.get(articleId) ?? Number.NaN));
}

const failedOnce = async ({ id }: ScriptWorkspace): Promise<number> => {
  const { failed } = await service.db
    .selectFrom('webhook_open')
    .select(({ fn }) => fn.countAll<number>().as('failed'))
    .where('workspace_id', '=', id)
    .where('attempts', '>', 0)
    .executeTakeFirstOrThrow();
  return failed;
};

try {
  const healthy = await service.workspace('Healthy');
  await service.register(healthy, sink.urls[0] ?? '');
  await service.startWorker();
  await sample(healthy);
  const alone = await sample(healthy);
  print(`alone: p95 ${quantile(alone, 0.95)} ms`);

  const hanging = await service.workspace('Hanging');
  for (let index = 0; index < HANGING; index += 1) await service.register(hanging, receiver.url);
  await service.emit(hanging, WAITING);
  await sleep(SETTLE_MS);
  const besideHanging = await sample(healthy);
  print(`beside ${HANGING} that hang: p95 ${quantile(besideHanging, 0.95)} ms`);

  const refused = await service.workspace('Refused');
  await service.register(refused, receiver.url);
  isRefusing = true;
  await service.emit(refused, REFUSED);
  for (
    const deadline = Date.now() + DEADLINE_MS;
    (await failedOnce(refused)) < REFUSED / 2;
    await sleep(200)
  ) {
    if (Date.now() > deadline) break;
  }
  print(`${await failedOnce(refused)} refused`);
  isRefusing = false;
  const besideRefused = await sample(healthy);

  const aloneP95 = quantile(alone, 0.95);
  const enough = Number(Math.max(1.5, (aloneP95 + 25) / aloneP95).toPrecision(3));
  const comparison = (name: string, values: number[]): Comparison => ({
    name: `another tenant's p95 beside ${name}, ms`,
    higherIsBetter: false,
    ours: [quantile(values, 0.95)],
    bare: [aloneP95],
    promised: enough,
  });
  const figures: Figure[] = [
    { name: 'commit to received, ms, alone', values: alone },
    { name: 'beside those that hang', values: besideHanging },
    { name: 'beside those that were refused', values: besideRefused },
  ];
  report(
    'neighbours',
    [
      comparison(`${HANGING} endpoints that hang`, besideHanging),
      comparison(`${REFUSED} that were refused, and hang`, besideRefused),
    ],
    figures,
  );
} finally {
  await service.stop();
  await sink.close();
  await receiver.close();
  await engines.stop();
}

/**
 * One event at a time, in a run of its own: milliseconds from its commit to the receiver. Beside it, in turns and on the
 * same durable engines, a bare run with one activity, started eagerly, preceded by one INSERT and one claim of a row.
 *
 * Environment: BENCH_ROUNDS (4), BENCH_SAMPLES (60) of a round.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startDurableEngines } from '../../soak/support/durable-engines.ts';
import { median } from '../../soak/support/report.ts';
import { countOpen, createScriptService, type ScriptWorkspace } from '../../soak/support/service.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import { alternate, report } from '../lib/suite.ts';
import { startBaseline } from './bare/baseline.ts';

const count = (name: string, value: number): number => Number(process.env[name] ?? value);
const ROUNDS = count('BENCH_ROUNDS', 4);
const SAMPLES = count('BENCH_SAMPLES', 60);
const WARM_UP = 100;
/** Between two, so that the machine is idle again and each gets a run. */
const PAUSE_MS = 120;

const engines = await startDurableEngines();
const service = createScriptService(engines);
const receiver = await startReceiver();
const baseline = await startBaseline(engines);

async function deliverOne(workspace: ScriptWorkspace): Promise<number> {
  receiver.received.length = 0;
  const { committedAt } = await service.emit(workspace);
  for (;;) {
    const [arrived] = receiver.received;
    if (arrived !== undefined) return arrived.at - committedAt;
    await sleep(1);
  }
}

const samplesOf = async (samples: number, one: () => Promise<number>): Promise<number[]> => {
  const values: number[] = [];
  while (values.length < samples) {
    values.push(await one());
    await sleep(PAUSE_MS);
  }
  return values;
};

try {
  const workspace = await service.workspace('Bench');
  await service.register(workspace, receiver.url);
  await service.startWorker();
  const sides = {
    ours: () => deliverOne(workspace),
    stored: async () => (await baseline.stored(1, 1)).reachedAfterMs[0] ?? Number.NaN,
    eager: async () => (await baseline.eager(1, 1)).reachedAfterMs[0] ?? Number.NaN,
  };
  for (const side of Object.values(sides)) await samplesOf(WARM_UP, side);
  const all: number[] = [];
  const latencies = await alternate(ROUNDS, {
    ours: async () => {
      const values = await samplesOf(SAMPLES, sides.ours);
      all.push(...values);
      return median(values);
    },
    stored: async () => median(await samplesOf(SAMPLES, sides.stored)),
    eager: async () => median(await samplesOf(SAMPLES, sides.eager)),
  });
  while ((await countOpen(service.db)) > 0) await sleep(50);
  const inRuns = await service.db
    .selectFrom('webhook_log')
    .select(({ fn }) => fn.countAll<number>().as('runs'))
    .where('in_run', '=', true)
    .executeTakeFirstOrThrow();
  const ours = { ours: latencies.ours, higherIsBetter: false };
  report(
    'webhooks',
    [
      {
        ...ours,
        name: 'commit to received, ms, a run after an INSERT and a claim',
        bare: latencies.stored,
        promised: 1.2,
      },
      { ...ours, name: 'commit to received, ms, a run alone', bare: latencies.eager },
    ],
    [
      { name: 'commit to received, ms', values: all },
      { name: 'of all deliveries, in runs', values: [inRuns.runs] },
    ],
  );
} finally {
  await baseline.stop();
  await service.stop();
  await receiver.close();
  await engines.stop();
}

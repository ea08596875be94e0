/**
 * One event at a time, in a run of its own: milliseconds from its commit to the receiver. Beside it, in turns and on the
 * same durable engines, a bare run with one activity, started eagerly by a worker of the same settings, preceded by one
 * INSERT and one claim of a row.
 *
 * Environment: BENCH_ROUNDS (4), BENCH_SAMPLES (60) of a round.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDurableEngines } from '../../soak/support/durable-engines.ts';
import { median, setting } from '../../soak/support/report.ts';
import { createScriptService, type ScriptWorkspace, untilDelivered } from '../../soak/support/service.ts';
import { alternate, report } from '../lib/suite.ts';
import { startBaseline } from './bare/baseline.ts';

const ROUNDS = setting('BENCH_ROUNDS', 4);
const SAMPLES = setting('BENCH_SAMPLES', 60);
const WARM_UP = 100;
/** Between two, so that the machine is idle again and each gets a run. */
const PAUSE_MS = 120;

const engines = await startDurableEngines();
const service = createScriptService(engines);
let onArrival: (at: number) => void = () => undefined;
const receiver = createServer((request, response) => {
  onArrival(performance.now());
  request.resume();
  response.writeHead(204).end();
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const baseline = await startBaseline(engines);

async function deliverOne(workspace: ScriptWorkspace): Promise<number> {
  const arrival = new Promise<number>((resolve) => {
    onArrival = resolve;
  });
  await service.emit(workspace);
  const committedAt = performance.now();
  return (await arrival) - committedAt;
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
  const { port } = receiver.address() as AddressInfo;
  await service.register(workspace, `http://127.0.0.1:${port}/hooks`);
  await service.startWorker();
  const sides = {
    ours: () => deliverOne(workspace),
    stored: baseline.stored,
    eager: baseline.eager,
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
  await untilDelivered(service.db, 50);
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
  receiver.close();
  receiver.closeAllConnections();
  await engines.stop();
}

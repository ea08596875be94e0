/**
 * Delivered webhooks per second and publish-to-receive latency of deliveries in runs of their own, against bare
 * one-activity workflows (no database, no HTTP) on the same Temporal server, in turns. The bare runs come twice: from a plain client, and from a client on
 * the worker's own connection with eager starts, as the relay has them. A latency counts from the call that stores
 * the event, or starts the run, to the request's arrival, or the activity.
 *
 * Environment: BENCH_ROUNDS (4), BENCH_BURST (600) runs of a round, BENCH_SAMPLES (40) single ones of a round.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startEphemeralEngines } from '../../soak/support/engines.ts';
import { median } from '../../soak/support/report.ts';
import { createScriptService, type ScriptWorkspace } from '../../soak/support/service.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import { eventually } from '../../test/support/wait.ts';
import { alternate, report } from '../lib/suite.ts';
import { startBaseline } from './bare/baseline.ts';

const count = (name: string, value: number): number => Number(process.env[name] ?? value);
const ROUNDS = count('BENCH_ROUNDS', 4);
const BURST = count('BENCH_BURST', 600);
const SAMPLES = count('BENCH_SAMPLES', 40);
const CONCURRENCY = 64;
const WARM_UP = 200;
/** Between two single ones, so that the machine is idle again. */
const PAUSE_MS = 30;

const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const receiver = await startReceiver();
const baseline = await startBaseline(engines);

/** Waits until everything sent is recorded too, so that nothing of one measurement is left for the next. */
const settled = () =>
  eventually(
    () =>
      service.db
        .selectFrom('webhook_deliveries')
        .select(({ fn }) => fn.countAll<number>().as('open'))
        .where('ended_at', 'is', null)
        .executeTakeFirstOrThrow(),
    ({ open }) => open === 0,
    120_000,
  );

/** Stores events in one transaction and returns the rate at which they arrived, per second. */
async function burst(workspace: ScriptWorkspace, size: number): Promise<number> {
  receiver.received.length = 0;
  const startedAt = Date.now();
  await service.emit(workspace, size);
  await eventually(
    async () => receiver.received.length,
    (length) => length >= size,
    120_000,
  );
  const last = Math.max(...receiver.received.map(({ at }) => at));
  await settled();
  return (size * 1_000) / (last - startedAt);
}

/** Milliseconds from the call that stores one event, and from its commit, to its arrival. */
async function deliverOne(workspace: ScriptWorkspace): Promise<{ fromCall: number; fromCommit: number }> {
  receiver.received.length = 0;
  const calledAt = Date.now();
  const { committedAt } = await service.emit(workspace);
  for (;;) {
    const [arrived] = receiver.received;
    if (arrived !== undefined) {
      return { fromCall: arrived.at - calledAt, fromCommit: arrived.at - committedAt };
    }
    await sleep(1);
  }
}

try {
  const workspace = await service.workspace('Bench');
  await service.register(workspace, receiver.url);
  await service.startWorker({ WEBHOOK_BURST_THRESHOLD: '0' });
  await burst(workspace, WARM_UP);
  await baseline.plain(WARM_UP, CONCURRENCY);
  await baseline.eager(WARM_UP, CONCURRENCY);

  const rate = ({ tookMs }: { tookMs: number }) => (BURST * 1_000) / tookMs;
  const rates = await alternate(ROUNDS, {
    plain: async () => rate(await baseline.plain(BURST, CONCURRENCY)),
    deliveries: () => burst(workspace, BURST),
    eager: async () => rate(await baseline.eager(BURST, CONCURRENCY)),
  });

  const fromCommit: number[] = [];
  const singles = async (one: () => Promise<number>): Promise<number> => {
    const values: number[] = [];
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      values.push(await one());
      await sleep(PAUSE_MS);
    }
    return median(values);
  };
  const latencies = await alternate(ROUNDS, {
    plain: () => singles(async () => (await baseline.plain(1, 1)).reachedAfterMs[0] ?? Number.NaN),
    deliveries: () =>
      singles(async () => {
        const delivered = await deliverOne(workspace);
        fromCommit.push(delivered.fromCommit);
        return delivered.fromCall;
      }),
    eager: () => singles(async () => (await baseline.eager(1, 1)).reachedAfterMs[0] ?? Number.NaN),
  });

  const rateOf = { ours: rates.deliveries, higherIsBetter: true };
  const latencyOf = { ours: latencies.deliveries, higherIsBetter: false };
  report(
    'webhooks',
    [
      { ...rateOf, name: 'deliveries/s, bare runs of a plain client', bare: rates.plain, promised: 0.8 },
      { ...rateOf, name: 'deliveries/s, bare runs started eagerly', bare: rates.eager },
      {
        ...latencyOf,
        name: 'store to receive, ms, bare run of a plain client',
        bare: latencies.plain,
        promised: 1.3,
      },
      { ...latencyOf, name: 'store to receive, ms, bare run started eagerly', bare: latencies.eager },
    ],
    [{ name: 'commit to receive, ms', values: fromCommit }],
  );
} finally {
  await baseline.stop();
  await service.stop();
  await receiver.close();
  await engines.stop();
}

/**
 * What another worker adds: a backlog for 100 endpoints that respond after 250 ms on a timer, sent by one, two and four
 * workers that have at most 50 requests in flight each, so that it is not the machine that limits them.
 *
 * Environment: BENCH_ROUNDS (2), BENCH_SECONDS (10), about the time that each backlog takes.
 */

import { startDurableEngines } from '../../soak/support/durable-engines.ts';
import { setting } from '../../soak/support/report.ts';
import { createScriptService, untilDelivered } from '../../soak/support/service.ts';
import { type Child, startChild } from '../lib/child.ts';
import { alternate, report } from '../lib/suite.ts';
import { startSink } from './receiving.ts';

const ROUNDS = setting('BENCH_ROUNDS', 2);
const SECONDS = setting('BENCH_SECONDS', 10);
const ENDPOINTS = 100;
const IN_FLIGHT = 50;
const DELAY_MS = 250;
const LOOK_MS = 200;
/** What is sent first, and last, is not counted: workers start, and run out of work. */
const COUNTED = { from: 0.2, to: 0.8 };

const engines = await startDurableEngines();
const service = createScriptService(engines);
const sink = await startSink(ENDPOINTS, DELAY_MS);
const workspaces = await service.subscribe(sink.urls);

/** The rate of so many workers in the middle of a backlog, per second. */
async function rateOf(workers: number): Promise<number> {
  await sink.clear();
  const each = Math.ceil((workers * IN_FLIGHT * SECONDS * 1_000) / DELAY_MS / ENDPOINTS);
  for (const workspace of workspaces) await service.emit(workspace, each);
  const env = {
    ...service.env,
    WEBHOOK_RUNS_PER_SECOND: '0',
    BENCH_IN_FLIGHT: String(IN_FLIGHT),
  };
  const children: Child[] = await Promise.all(
    Array.from({ length: workers }, () => startChild(new URL('limited-worker.ts', import.meta.url), env)),
  );
  await untilDelivered(service.db, LOOK_MS);
  await Promise.all(children.map((child) => child.stop()));
  const times = (await sink.report()).map(({ at }) => at).sort((a, b) => a - b);
  const from = Math.floor(times.length * COUNTED.from);
  const to = Math.floor(times.length * COUNTED.to);
  return ((to - from) * 1_000) / ((times[to] ?? 0) - (times[from] ?? 0));
}

try {
  const rates = await alternate(ROUNDS, {
    one: () => rateOf(1),
    two: () => rateOf(2),
    four: () => rateOf(4),
  });
  const besideOne = { bare: rates.one, higherIsBetter: true };
  const what = `${IN_FLIGHT} in flight each, ${ENDPOINTS} endpoints that wait ${DELAY_MS} ms, deliveries/s`;
  report('workers', [
    { ...besideOne, name: `two workers beside one, ${what}`, ours: rates.two, promised: 1.7 },
    { ...besideOne, name: `four workers beside one, ${what}`, ours: rates.four, promised: 3 },
  ]);
} finally {
  await service.stop();
  await sink.close();
  await engines.stop();
}

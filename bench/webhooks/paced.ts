/**
 * Receivers that take 10 and 100 requests a second and respond 429 beyond, without and with Retry-After: a backlog sent by
 * one worker and by two, from the first request until all are recorded. The ideal is what the receiver's rate alone would
 * take; a refused delivery waits half a minute, so a short backlog ends late.
 *
 * Environment: BENCH_SECONDS (60), the ideal time of each backlog.
 */

import { startDurableEngines } from '../../soak/support/durable-engines.ts';
import { print, setting } from '../../soak/support/report.ts';
import { createScriptService, untilDelivered } from '../../soak/support/service.ts';
import { type Comparison, type Figure, report } from '../lib/suite.ts';
import { startLimited } from './receiving.ts';

const SECONDS = setting('BENCH_SECONDS', 60);
const LOOK_MS = 100;

const engines = await startDurableEngines();
const service = createScriptService(engines);
const comparisons: Comparison[] = [];
const figures: Figure[] = [];

async function measure(rate: number, workers: number, says: boolean): Promise<void> {
  const size = rate * SECONDS;
  const receiver = await startLimited(rate, says);
  const [workspace] = await service.subscribe(receiver.urls);
  if (workspace === undefined) throw new Error('no workspace');
  await service.emit(workspace, size);
  const running = await Promise.all(Array.from({ length: workers }, () => service.startWorker()));
  await untilDelivered(service.db, LOOK_MS, 20 * SECONDS * 1_000);
  for (const worker of running) worker.kill('SIGTERM');
  await Promise.all(running.map((worker) => worker.ended));
  const { taken, refused, firstAt, lastAt } = await receiver.report();
  await receiver.close();
  if (taken !== size) throw new Error(`${taken} of ${size} were taken`);
  const name = `${size} to one that takes ${rate}/s${says ? ', with Retry-After' : ''}, ${workers} worker${workers > 1 ? 's' : ''}`;
  const seconds = (lastAt - firstAt) / 1_000;
  const share = refused / (taken + refused);
  print(`${name}: ${seconds.toFixed(1)} s, ${(100 * share).toFixed(2)} % refused`);
  comparisons.push({
    name: `${name}, s beside the ideal`,
    higherIsBetter: false,
    ours: [seconds],
    bare: [SECONDS],
  });
  figures.push({ name: `${name}, % refused`, values: [100 * share] });
}

try {
  for (const rate of [10, 100]) {
    for (const workers of [1, 2]) {
      for (const says of [false, true]) await measure(rate, workers, says);
    }
  }
  report('paced', comparisons, figures);
} finally {
  await service.stop();
  await engines.stop();
}

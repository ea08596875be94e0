/**
 * Receivers that take 10 and 100 requests a second and respond 429 beyond, without and with Retry-After: a backlog sent by
 * one worker and by two, until 95 in 100 are taken. The ideal is what the receiver's rate alone would take. The end is a figure
 * apart: a refused delivery waits half a minute, so a short backlog has a late one.
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
const MOST = 0.95;
/** A backlog of a minute has the search for the rate in it; a longer one comes nearer to 1. */
const PROMISED = 1.3;

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
  const { refused, firstAt, takenAt } = await receiver.report();
  await receiver.close();
  if (takenAt.length !== size) throw new Error(`${takenAt.length} of ${size} were taken`);
  const name = `${size} to one that takes ${rate}/s${says ? ', with Retry-After' : ''}, ${workers} worker${workers > 1 ? 's' : ''}`;
  const secondsOf = (share: number) => ((takenAt[Math.ceil(size * share) - 1] ?? firstAt) - firstAt) / 1_000;
  const refusedShare = (100 * refused) / (size + refused);
  print(
    `${name}: ${secondsOf(MOST).toFixed(1)} s, all ${secondsOf(1).toFixed(1)} s, ${refusedShare.toFixed(2)} % refused`,
  );
  comparisons.push({
    name: `${name}, s until 95 % are taken, beside the ideal`,
    higherIsBetter: false,
    ours: [secondsOf(MOST)],
    bare: [SECONDS * MOST],
    promised: PROMISED,
  });
  figures.push({ name: `${name}, s until all are taken, of ${SECONDS}`, values: [secondsOf(1)] });
  figures.push({ name: `${name}, % refused`, values: [refusedShare] });
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

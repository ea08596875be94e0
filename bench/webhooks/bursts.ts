/**
 * Backlogs: deliveries stored while no worker ran, from a worker's start until all are recorded, to 100
 * endpoints and to one, beside a bare loop over an outbox with the same receivers in the same durable Postgres, in turns.
 *
 * Environment: BENCH_ROUNDS (3), BENCH_SIZE (5000).
 */

import { startDurableEngines } from '../../soak/support/durable-engines.ts';
import { setting } from '../../soak/support/report.ts';
import { createScriptService, type ScriptWorkspace, untilDelivered } from '../../soak/support/service.ts';
import { alternate, type Comparison, report } from '../lib/suite.ts';
import { startBareLoop } from './bare/outbox.ts';
import { startSink } from './receiving.ts';

const ROUNDS = setting('BENCH_ROUNDS', 3);
const SIZE = setting('BENCH_SIZE', 5_000);
const MANY = 100;
const LOOK_MS = 20;

const engines = await startDurableEngines();
const service = createScriptService(engines);
const sink = await startSink(MANY);
const loop = await startBareLoop(engines.databaseUrl);

try {
  const worker = await service.startWorker();

  /** Stores events while the worker is frozen, and returns the rate from its release until all are recorded. */
  const backlog = async (workspaces: readonly ScriptWorkspace[]): Promise<number> => {
    worker.kill('SIGSTOP');
    await sink.clear();
    try {
      for (const workspace of workspaces) await service.emit(workspace, SIZE / workspaces.length);
    } finally {
      worker.kill('SIGCONT');
    }
    const startedAt = performance.now();
    await untilDelivered(service.db, LOOK_MS);
    const took = performance.now() - startedAt;
    const arrived = (await sink.count()).count;
    if (arrived !== SIZE) throw new Error(`${arrived} of ${SIZE} arrived`);
    return (SIZE * 1_000) / took;
  };

  const comparisons: Comparison[] = [];
  for (const [endpoints, promised] of [
    [MANY, 0.5],
    [1, 0.35],
  ] as const) {
    const urls = sink.urls.slice(0, endpoints);
    const workspaces = await service.subscribe(urls);
    await backlog(workspaces);
    await loop.rate(SIZE, urls);
    const rates = await alternate(ROUNDS, {
      ours: () => backlog(workspaces),
      bare: () => loop.rate(SIZE, urls),
    });
    comparisons.push({
      name: `${SIZE} stored, then released to ${endpoints}, until recorded, deliveries/s`,
      higherIsBetter: true,
      promised,
      ...rates,
    });
  }
  report('bursts', comparisons);
} finally {
  await loop.stop();
  await service.stop();
  await sink.close();
  await engines.stop();
}

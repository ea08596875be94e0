/**
 * A large backlog of one workspace: the rename of a category with 20,000 published articles, over HTTP. Another workspace's
 * single events meanwhile, the time until all are delivered, and the memory of server and worker. Ends with status 1 when
 * anything is off. What receivers that hang cost others is measured by `npm run bench -- neighbours`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from '../test/support/processes.ts';
import { startReceiver } from '../test/support/receiver.ts';
import { storeCategory, storePublishedArticles } from './support/category.ts';
import { quietPort } from './support/durable-engines.ts';
import { startEphemeralEngines } from './support/engines.ts';
import { conclude, median, print, quantile, seconds, setting, table } from './support/report.ts';
import { countOpen, createScriptService } from './support/service.ts';
import { memory } from './support/usage.ts';

const BACKLOG = setting('FAIRNESS_BACKLOG', 20_000);
const SAMPLES = 50;
const SAMPLE_EVERY_MS = 100;
const ARRIVE_MS = 60_000;
const DRAIN_MS = 45 * 60_000;
/** After which memory is no longer needed. */
const SETTLE_MS = 10_000;

const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const problems: string[] = [];
const [single, many] = [await startReceiver(), await startReceiver()];
try {
  const quiet = await service.workspace('Quiet');
  await service.register(quiet, single.url);
  /** Stores one event at a steady pace and returns for each the milliseconds from its commit to its arrival. */
  const sampleLatencies = async (): Promise<number[]> => {
    single.received.length = 0;
    const committed = new Map<unknown, number>();
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const { committedAt, articleIds } = await service.emit(quiet);
      for (const id of articleIds) committed.set(id, committedAt);
      await sleep(SAMPLE_EVERY_MS);
    }
    const deadline = Date.now() + ARRIVE_MS;
    while (single.received.length < SAMPLES && Date.now() < deadline) await sleep(50);
    const missing = SAMPLES - single.received.length;
    if (missing > 0) problems.push(`${missing} single events did not arrive`);
    return single.received.map(({ at, body }) => at - (committed.get(body.data.articleId) ?? Number.NaN));
  };

  const busy = await service.workspace('Busy');
  await service.register(busy, many.url, 'article.updated');
  await storePublishedArticles(busy.context, BACKLOG);
  const categoryId = await storeCategory(busy.context, BACKLOG);
  const worker = await service.startWorker();
  const port = await quietPort();
  const server = await startProcess('server.ts', { ...service.env, PORT: String(port) });
  const alone = await sampleLatencies();

  const pids = { server: server.pid, worker: worker.pid };
  const before = { server: memory(pids.server), worker: memory(pids.worker) };
  const startedAt = Date.now();
  const path = `/api/workspaces/${busy.id}/categories/${categoryId}`;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${busy.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ translations: [{ language: 'en', name: 'Renamed' }] }),
  });
  if (response.status !== 200) problems.push(`the response to the rename was ${response.status}`);
  print(`a category with ${BACKLOG} articles renamed in ${seconds(Date.now() - startedAt)} s`);
  const beside = await sampleLatencies();
  const left = BACKLOG - many.received.length;
  const row = (name: string, values: number[]) => [
    name,
    values.length,
    ...[median(values), quantile(values, 0.95), quantile(values, 1)],
  ];
  print(
    table([
      ["another workspace's events, ms to arrive", 'samples', 'p50', 'p95', 'longest'],
      row('alone', alone),
      row(`while ${left} wait`, beside),
    ]),
  );
  const isOpen = () => countOpen(service.db, busy.id);
  for (const deadline = startedAt + DRAIN_MS; (await isOpen()) > 0 && Date.now() < deadline; )
    await sleep(1_000);
  const took = Date.now() - startedAt;
  const ids = new Set(many.received.map(({ headers }) => headers['x-service-delivery']));
  const open = await isOpen();
  print(
    `${ids.size} of ${BACKLOG} arrived in ${seconds(took, 0)} s, ${((ids.size * 1_000) / took).toFixed(0)}/s; ` +
      `${many.received.length - ids.size} sent twice, ${open} still open`,
  );
  if (ids.size !== BACKLOG || open > 0) problems.push('the backlog did not drain');
  await sleep(SETTLE_MS);
  print(
    table([
      ['MiB resident', 'before', 'at most', 'after'],
      ...(['server', 'worker'] as const).map((name) => {
        const { highest, now } = memory(pids[name]);
        return [name, ...[before[name].now, highest, now].map((value) => value.toFixed(0))];
      }),
    ]),
  );
  server.kill('SIGTERM');
  await server.ended;
} finally {
  await service.stop();
  await single.close();
  await many.close();
  await engines.stop();
}
conclude(problems, 'The backlog was delivered, and other events beside it.');

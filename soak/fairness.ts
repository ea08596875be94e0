/**
 * A large backlog of one workspace: renames of a category with 20,000 published articles, over HTTP. Another workspace's
 * single events meanwhile, the time until all are delivered, the open deliveries of each endpoint, and the memory of server
 * and worker. Ends with status 1 when anything is off. What many receivers that hang cost others is measured by
 * `npm run bench -- neighbours`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startSink } from '../bench/webhooks/receiving.ts';
import type { EndpointId } from '../src/ids.ts';
import { BACKLOG_BOUNDS } from '../src/webhooks/backlog/states.ts';
import { startProcess } from '../test/support/processes.ts';
import { startReceiver } from '../test/support/receiver.ts';
import { storeCategory, storePublishedArticles } from './support/category.ts';
import { quietPort } from './support/durable-engines.ts';
import { startEphemeralEngines } from './support/engines.ts';
import { conclude, median, print, quantile, seconds, setting, table } from './support/report.ts';
import { createScriptService } from './support/service.ts';
import { memory } from './support/usage.ts';

const BACKLOG = setting('FAIRNESS_BACKLOG', 20_000);
const RENAMES = setting('FAIRNESS_RENAMES', 1);
/** Of the workspace whose category it is, besides those whose receiver hangs. */
const ENDPOINTS = setting('FAIRNESS_ENDPOINTS', 1);
const HANGING = setting('FAIRNESS_HANGING', 0);
/** Single events of the other workspace, alone and beside the backlog. */
const SAMPLES = setting('FAIRNESS_SAMPLES', 50);
/** Open deliveries are counted every ten seconds: an endpoint may pass the mark by what is stored meanwhile. */
const MOST_OPEN = 2 * BACKLOG_BOUNDS.mark;
const LOOK_MS = 5_000;
const SAMPLE_EVERY_MS = 100;
const ARRIVE_MS = 60_000;
/** To deliver all: as long as 1,000 a second take, and what a small backlog takes beside that. */
const DRAIN_MS = 10 * 60_000 + RENAMES * BACKLOG * ENDPOINTS;
/** After which memory is no longer needed. */
const SETTLE_MS = 10_000;

const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const problems: string[] = [];
const [single, hanging] = [await startReceiver(), await startReceiver(() => undefined)];
// In a process of its own: it would hold up the other receiver.
const many = await startSink(ENDPOINTS);
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
  const living: EndpointId[] = [];
  for (const url of many.urls) living.push((await service.register(busy, url, 'article.updated')).id);
  for (let endpoint = 0; endpoint < HANGING; endpoint += 1)
    await service.register(busy, `${hanging.url}/${endpoint}`, 'article.updated');
  await storePublishedArticles(busy.context, BACKLOG);
  const categoryId = await storeCategory(busy.context, BACKLOG);
  const worker = await service.startWorker();
  const port = await quietPort();
  const server = await startProcess('server.ts', { ...service.env, PORT: String(port) });
  const alone = await sampleLatencies();

  const pids = { server: server.pid, worker: worker.pid };
  const before = { server: memory(pids.server), worker: memory(pids.worker) };
  const startedAt = Date.now();
  let requests = 0;
  /** Takes what has arrived out of the receivers' memory. */
  const collect = async () => {
    requests += (await many.clear()).count;
    hanging.received.length = 0;
  };
  for (let rename = 1; rename <= RENAMES; rename += 1) {
    const response = await fetch(
      `http://127.0.0.1:${port}/api/workspaces/${busy.id}/categories/${categoryId}`,
      {
        method: 'PATCH',
        headers: { authorization: `Bearer ${busy.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ translations: [{ language: 'en', name: `Renamed ${rename}` }] }),
      },
    );
    if (response.status !== 200) problems.push(`the response to the rename was ${response.status}`);
    print(`a category with ${BACKLOG} articles renamed after ${seconds(Date.now() - startedAt)} s`);
  }
  const beside = await sampleLatencies();
  await collect();
  const bound = Math.max(1.5 * quantile(alone, 0.95), quantile(alone, 0.95) + 25);
  if (quantile(beside, 0.95) > bound)
    problems.push(`p95 of another workspace's events is above ${bound.toFixed(0)} ms`);
  const all = RENAMES * BACKLOG * ENDPOINTS;
  const left = all - requests;
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
  const { db } = service;
  const open = async () => {
    const rows = await db
      .selectFrom('webhook_open')
      .select(['endpoint_id as id', ({ fn }) => fn.countAll<number>().as('count')])
      .where('workspace_id', '=', busy.id)
      .groupBy('endpoint_id')
      .execute();
    const behind = await db.selectFrom('webhook_backlogs').select('endpoint_id as id').execute();
    return {
      most: Math.max(0, ...rows.map(({ count }) => count)),
      isAny: [...rows, ...behind].some(({ id }) => living.includes(id)),
    };
  };
  const isStored = async () =>
    (await db.selectFrom('event_fanouts').select('id').limit(1).execute()).length === 0;
  let mostOpen = 0;
  for (const deadline = startedAt + DRAIN_MS; Date.now() < deadline; await sleep(LOOK_MS)) {
    const { most, isAny } = await open();
    mostOpen = Math.max(mostOpen, most);
    if (!isAny && (await isStored())) break;
    await collect();
    print(
      `after ${seconds(Date.now() - startedAt, 0)} s: ${requests} of ${all}, at most ${most} open for one endpoint`,
    );
  }
  const took = Date.now() - startedAt;
  await collect();
  const ended = await db
    .selectFrom('webhook_log')
    .select(({ fn, ref }) => [
      fn.countAll<number>().as('deliveries'),
      fn.count<number>(ref('event_id')).distinct().as('events'),
    ])
    .where('endpoint_id', 'in', living)
    .where('status', '=', 'succeeded')
    .groupBy('endpoint_id')
    .execute();
  const delivered = ended.reduce((sum, { deliveries }) => sum + deliveries, 0);
  print(
    `${delivered} of ${all} delivered in ${seconds(took, 0)} s, ${((delivered * 1_000) / took).toFixed(0)}/s; ` +
      `${requests - delivered} requests more; at most ${mostOpen} open for one endpoint`,
  );
  const isWhole = ended.every(
    ({ deliveries, events }) => deliveries === events && events === RENAMES * BACKLOG,
  );
  if (ended.length !== ENDPOINTS || !isWhole)
    problems.push('not each event has one delivery to each endpoint');
  if (mostOpen > MOST_OPEN) problems.push(`${mostOpen} deliveries of one endpoint were open`);
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
  await hanging.close();
  await engines.stop();
}
conclude(problems, 'The backlog was delivered, and other events beside it.');

/**
 * Fairness between endpoints, and a large backlog:
 *  1. A healthy endpoint's latency alone, and while another endpoint hangs for 15 s on each of 1,000 deliveries, in
 *     turns: its p99 may rise by half at most.
 *  2. The rename of a category with 20,000 published articles, over HTTP: another workspace's single events meanwhile,
 *     the time until all are delivered, and the memory of server and worker.
 * Ends with status 1 when anything is off. About 5 minutes and the time of the backlog.
 *
 * Environment: FAIRNESS_ROUNDS (3), FAIRNESS_HANGING (1000), FAIRNESS_BACKLOG (20000).
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '../src/events/catalog.ts';
import { deleteEndpoint } from '../src/webhooks/endpoints/delete.ts';
import { startProcess } from '../test/support/processes.ts';
import { type Receiver, startReceiver } from '../test/support/receiver.ts';
import { storeCategory, storePublishedArticles } from './support/category.ts';
import { startEphemeralEngines } from './support/engines.ts';
import { conclude, median, print, quantile, seconds, setting, table } from './support/report.ts';
import { countOpen, createScriptService, type ScriptWorkspace } from './support/service.ts';
import { memory } from './support/usage.ts';

const ROUNDS = setting('FAIRNESS_ROUNDS', 3);
const HANGING = setting('FAIRNESS_HANGING', 1_000);
const BACKLOG = setting('FAIRNESS_BACKLOG', 20_000);
const HANG_MS = 15_000;
const SAMPLES = 200;
const SAMPLE_EVERY_MS = 100;
const MAX_P99_RATIO = 1.5;
const DRAIN_MS = 45 * 60_000;

const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const problems: string[] = [];

interface Subscriber {
  readonly workspace: ScriptWorkspace;
  readonly receiver: Receiver;
  unsubscribe(): Promise<void>;
}

/** A workspace with one endpoint whose receiver answers after `delayMs`. */
async function subscriber(name: string, delayMs = 0, event?: EventType): Promise<Subscriber> {
  const workspace = await service.workspace(name);
  const receiver = await startReceiver();
  if (delayMs > 0) receiver.answer = () => sleep(delayMs, 204, { ref: false });
  const { id } = await service.register(workspace, receiver.url, event);
  return {
    workspace,
    receiver,
    async unsubscribe() {
      await deleteEndpoint({ ...workspace.context, runCanceller: { cancel: () => undefined } }, id);
      await receiver.close();
    },
  };
}

/** Stores one event at a steady pace and returns for each the milliseconds from its commit to its arrival. */
async function sampleLatencies({ workspace, receiver }: Subscriber, samples: number): Promise<number[]> {
  receiver.received.length = 0;
  const committed = new Map<unknown, number>();
  for (let sample = 0; sample < samples; sample += 1) {
    const { committedAt, articleIds } = await service.emit(workspace);
    for (const id of articleIds) committed.set(id, committedAt);
    await sleep(SAMPLE_EVERY_MS);
  }
  const deadline = Date.now() + 60_000;
  while (receiver.received.length < samples && Date.now() < deadline) await sleep(50);
  if (receiver.received.length < samples)
    problems.push(`${samples - receiver.received.length} did not arrive`);
  return receiver.received.map(({ at, body }) => at - (committed.get(body.data.articleId) ?? Number.NaN));
}

async function besideHangingEndpoint(healthy: Subscriber): Promise<void> {
  const alone: number[] = [];
  const beside: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    alone.push(...(await sampleLatencies(healthy, SAMPLES)));
    const hanging = await subscriber('Hanging', HANG_MS + 5_000);
    await service.emit(hanging.workspace, HANGING);
    while (hanging.receiver.received.length < 20) await sleep(50);
    beside.push(...(await sampleLatencies(healthy, SAMPLES)));
    print(`round ${round}: the hanging receiver had ${hanging.receiver.received.length} requests`);
    await hanging.unsubscribe();
  }
  const row = (name: string, values: number[]) => [
    name,
    values.length,
    ...[0.5, 0.95, 0.99, 1].map((share) => quantile(values, share)),
  ];
  print(
    table([
      ['healthy endpoint, ms to arrive', 'samples', 'p50', 'p95', 'p99', 'longest'],
      row('alone', alone),
      row(`beside ${HANGING} that hang`, beside),
    ]),
  );
  const ratio = quantile(beside, 0.99) / quantile(alone, 0.99);
  print(`p99 beside / p99 alone: ${ratio.toFixed(2)}`);
  if (ratio > MAX_P99_RATIO) problems.push(`p99 is ${ratio.toFixed(2)} times that alone`);
}

async function besideBacklog(other: Subscriber, workerPid: number): Promise<void> {
  const busy = await subscriber('Busy', 0, 'article.updated');
  await storePublishedArticles(busy.workspace.context, BACKLOG);
  const categoryId = await storeCategory(busy.workspace.context, BACKLOG);
  const port = String(randomInt(20_000, 32_000));
  const server = await startProcess('server.ts', { ...service.env, PORT: port });
  const before = { server: memory(server.pid), worker: memory(workerPid) };
  const startedAt = Date.now();
  const path = `/api/workspaces/${busy.workspace.id}/categories/${categoryId}`;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${busy.workspace.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ translations: [{ language: 'en', name: 'Renamed' }] }),
  });
  if (response.status !== 200) problems.push(`the rename was answered ${response.status}`);
  print(`a category with ${BACKLOG} articles renamed in ${seconds(Date.now() - startedAt)} s`);
  const singles = await sampleLatencies(other, 50);
  const during = busy.receiver.received.length;
  print(
    table([
      ["another workspace's events, ms to arrive", 'samples', 'p50', 'p95', 'longest'],
      [
        `while ${BACKLOG - during} wait`,
        singles.length,
        median(singles),
        quantile(singles, 0.95),
        quantile(singles, 1),
      ],
    ]),
  );
  const deadline = startedAt + DRAIN_MS;
  let open = await countOpen(service.db, busy.workspace.id);
  while (open > 0 && Date.now() < deadline) {
    await sleep(5_000);
    open = await countOpen(service.db, busy.workspace.id);
  }
  const took = Date.now() - startedAt;
  const ids = new Set(busy.receiver.received.map(({ headers }) => headers['x-service-delivery']));
  print(
    `${ids.size} of ${BACKLOG} arrived in ${seconds(took, 0)} s, ${((ids.size * 1_000) / took).toFixed(0)}/s`,
  );
  print(`${busy.receiver.received.length - ids.size} sent twice, ${open} still open`);
  if (ids.size !== BACKLOG || open > 0) problems.push('the backlog did not drain');
  await sleep(10_000);
  const after = { server: memory(server.pid), worker: memory(workerPid) };
  const mib = (value: number) => value.toFixed(0);
  const row = (name: 'server' | 'worker') => [
    name,
    mib(before[name].now),
    mib(after[name].highest),
    mib(after[name].now),
  ];
  print(table([['MiB resident', 'before', 'at most', 'after'], row('server'), row('worker')]));
  server.kill('SIGTERM');
  await server.ended;
  await busy.unsubscribe();
}

try {
  const healthy = await subscriber('Healthy');
  const worker = await service.startWorker();
  await sampleLatencies(healthy, 50);
  if (ROUNDS > 0) await besideHangingEndpoint(healthy);
  if (BACKLOG > 0) await besideBacklog(healthy, worker.pid);
  await healthy.unsubscribe();
} finally {
  await service.stop();
  await engines.stop();
}
conclude(problems, 'Both were served fairly.');

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DeliveryId, EndpointId } from '../../src/ids.ts';
import { startServer } from '../../src/processes/server.ts';
import type { RunningWorker } from '../../src/processes/worker.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { deliveryWorkflowId } from '../../src/temporal/ids.ts';
import { emit, register, untilDelivery } from '../support/events.ts';
import { createStandInWriter, generating } from '../support/generating.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { logger, type TestWorkspace, useTestService } from '../support/service.ts';
import { connectOperator, type Operator } from '../support/temporal.ts';
import { createStandIn, type StandIn, translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';
import { type Exposition, scrape } from './support/exposition.ts';

const service = useTestService();

let workspace: TestWorkspace;
let endpoint: { id: EndpointId };
let receiver: Receiver;
let operator: Operator;
let engine: StandIn;
let worker: RunningWorker;

beforeAll(async () => {
  workspace = await service.workspace();
  receiver = await startReceiver();
  endpoint = await register(service, workspace, receiver.url);
  operator = await connectOperator();
  engine = createStandIn();
  worker = await service.startWorker({ provider: engine });
});
afterAll(async () => {
  await operator.close();
  await receiver.close();
});

type Scraped = Pick<Exposition, 'value'>;
/** What a worker has counted that has just been started: its first attempts may come before the first scrape. */
const AT_START: Scraped = { value: () => 0 };

/** How much a counter grew between two scrapes. */
const growth = (before: Scraped, after: Exposition, name: string, labels: Record<string, string> = {}) =>
  (after.value(name, labels) ?? Number.NaN) - (before.value(name, labels) ?? 0);

const untilGrown = (before: Scraped, by: number, name: string, labels: Record<string, string> = {}) =>
  eventually(
    () => scrape(worker.metricsUrl),
    (after) => growth(before, after, name, labels) >= by,
  );

async function deliver(): Promise<string> {
  const [id] = await emit(service, workspace);
  if (id === undefined) throw new Error('nobody subscribes');
  await untilDelivery(service, id, (row) => row.status !== 'pending');
  return deliveryWorkflowId(id);
}

it('attempts are counted by what they came to, and deliveries by how they ended', async () => {
  const ATTEMPTS = 'webhook_delivery_attempts_total';
  const ENDED = 'webhook_deliveries_ended_total';
  const before = await scrape(worker.metricsUrl);
  await deliver();
  await deliver();
  receiver.answer = () => 404;
  await deliver();
  receiver.answer = () => 503;
  const waiting = await deliver();
  const after = await untilGrown(before, 1, ATTEMPTS, { outcome: 'retry' });
  expect(growth(before, after, ATTEMPTS, { outcome: 'succeeded' })).toBe(2);
  expect(growth(before, after, ATTEMPTS, { outcome: 'failed' })).toBe(1);
  expect(growth(before, after, ATTEMPTS, { outcome: 'retry' })).toBe(1);
  expect(growth(before, after, ENDED, { outcome: 'delivered' })).toBe(2);
  expect(growth(before, after, ENDED, { outcome: 'refused' })).toBe(1);
  expect(growth(before, after, ENDED, { outcome: 'given_up' })).toBe(0);

  await operator.hurry(waiting);
  const end = await untilGrown(before, 1, ENDED, { outcome: 'given_up' });
  expect(growth(before, end, ATTEMPTS, { outcome: 'retry' })).toBe(6);
  receiver.answer = () => 204;
});

it('the delay of first attempts is measured from the event, and that of later ones is not', async () => {
  const DELAY = 'webhook_first_attempt_delay_seconds';
  await worker.stop();
  const [id] = (await emit(service, workspace)) as [DeliveryId];
  await service.db
    .updateTable('webhook_open')
    .set({ created_at: new Date(Date.now() - 20_000) })
    .where('id', '=', id)
    .execute();
  receiver.answer = () => 503;
  worker = await service.startWorker({ provider: engine });
  const before = AT_START;
  const after = await untilGrown(before, 1, `${DELAY}_count`);
  expect(growth(before, after, `${DELAY}_count`)).toBe(1);
  expect(growth(before, after, `${DELAY}_bucket`, { le: '10' })).toBe(0);
  expect(growth(before, after, `${DELAY}_bucket`, { le: '60' })).toBe(1);

  await operator.hurry(deliveryWorkflowId(id));
  const later = await untilGrown(before, 2, 'webhook_delivery_attempts_total', { outcome: 'retry' });
  expect(growth(before, later, `${DELAY}_count`)).toBe(1);
  receiver.answer = () => 204;
  await untilDelivery(service, id, (row) => row.ended_at !== null);
});

it('attempts of a burst are counted like all others', async () => {
  await worker.stop();
  const ids = (await Promise.all([1, 2, 3, 4, 5].map(() => emit(service, workspace)))).flat();
  worker = await service.startWorker({ provider: engine }, { WEBHOOK_RUNS_PER_SECOND: '0' });
  const rows = await Promise.all(
    ids.map((id) => untilDelivery(service, id, (row) => row.status === 'succeeded')),
  );
  expect(rows.filter((row) => row.burst_id === null)).toEqual([]);
  const end = await untilGrown(AT_START, 5, 'webhook_deliveries_ended_total', { outcome: 'delivered' });
  expect(growth(AT_START, end, 'webhook_delivery_attempts_total', { outcome: 'succeeded' })).toBe(5);
  expect(growth(AT_START, end, 'webhook_first_attempt_delay_seconds_count')).toBe(5);
});

it('translated batches and ended jobs are counted', async () => {
  const { translate, untilFinal } = translating(service);
  const before = await scrape(worker.metricsUrl);
  await untilFinal(workspace, (await translate(workspace, 300)).job.id);
  engine.behave = () => Promise.reject(new Error('a fault of the engine'));
  const failing = await translate(workspace, 300);
  const failed = await untilGrown(before, 1, 'translation_batches_total', { outcome: 'failed' });
  expect(growth(before, failed, 'translation_batches_total', { outcome: 'translated' })).toBeGreaterThan(0);
  expect(growth(before, failed, 'translation_segments_total')).toBeGreaterThan(0);
  expect(growth(before, failed, 'translation_jobs_ended_total', { outcome: 'completed' })).toBe(1);
  await operator.client.workflow.getHandle(`translation-${failing.job.id}`).cancel();
  await untilGrown(before, 1, 'translation_jobs_ended_total', { outcome: 'cancelled' });
  engine.behave = async () => undefined;
});

it('written parts of articles and ended generations are counted', async () => {
  const { generate, untilFinal } = generating(service);
  const writers = createStandInWriter();
  await worker.stop();
  worker = await service.startWorker({ provider: engine, writers });
  const written = await generate(workspace);
  expect((await untilFinal(workspace, written.job.id)).status).toBe('COMPLETED');
  writers.behave = () => Promise.reject(new ProviderError('misconfigured', 'The key is refused.'));
  const refused = await generate(workspace);
  const after = await untilGrown(AT_START, 1, 'generation_engine_refusals_total');
  const sections = writers.asked.filter((what) => what === 'section').length;
  const PARTS = 'generation_parts_total';
  expect(growth(AT_START, after, PARTS, { outcome: 'written' })).toBe(2 + sections);
  expect(growth(AT_START, after, PARTS, { outcome: 'failed' })).toBeGreaterThan(0);
  const ENDED = 'generation_jobs_ended_total';
  expect(growth(AT_START, after, ENDED, { outcome: 'completed' })).toBe(1);
  await operator.client.workflow.getHandle(`generation-${refused.job.id}`).cancel();
  await untilGrown(AT_START, 1, ENDED, { outcome: 'cancelled' });
});

it("one scrape holds the process's figures, ours, the database's and those of Temporal's SDK, with no id in any label", async () => {
  const all = await eventually(
    () => scrape(worker.metricsUrl),
    (found) => found.families.has('temporal_activity_schedule_to_start_latency_seconds'),
  );
  for (const [name, type] of [
    ['process_resident_memory_bytes', 'gauge'],
    ['nodejs_eventloop_lag_seconds', 'gauge'],
    ['webhook_delivery_attempts_total', 'counter'],
    ['webhook_outbox_oldest_age_seconds', 'gauge'],
    ['temporal_worker_task_slots_available', 'gauge'],
    ['temporal_request_latency_seconds', 'histogram'],
    ['temporal_activity_schedule_to_start_latency_seconds', 'histogram'],
  ] as const) {
    expect([name, all.families.get(name)]).toEqual([name, type]);
  }
  const names = new Set(all.labels.map(([name]) => name));
  expect([...names].filter((name) => /id$|workspace|endpoint|url/i.test(name))).toEqual([]);
  const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/;
  expect(all.labels.filter(([, value]) => UUID.test(value))).toEqual([]);
  expect(all.labels.filter(([, value]) => value === endpoint.id || value === workspace.id)).toEqual([]);
});

it('every series is documented, and everything documented is a series', async () => {
  const server = await startServer(service.config, logger);
  await fetch(new URL('/healthz', server.url));
  const families = new Set([
    ...(await scrape(server.metricsUrl)).families.keys(),
    ...(await scrape(worker.metricsUrl)).families.keys(),
  ]);
  await server.stop();
  const read = (file: string) => readFile(new URL(`../../docs/${file}`, import.meta.url), 'utf8');
  const page = (await read('metrics.md')) + (await read('alerts.yml'));
  const own = [...families].filter((name) => !/^(process|nodejs|temporal)_/.test(name));
  expect(own.length).toBeGreaterThan(15);
  expect(own.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);

  const documented =
    page.match(/\b[a-z]+(_[a-z]+)+_(total|seconds|open|credits|available|size)(_bucket|_count)?\b/g) ?? [];
  expect(documented.length).toBeGreaterThan(40);
  const unknown = documented.filter((name) => !families.has(name.replace(/_(bucket|count)$/, '')));
  // These are there once something has happened.
  const later = new Set([
    'temporal_request_failure_total',
    'temporal_workflow_failed_total',
    'prune_last_start_timestamp_seconds',
  ]);
  expect(unknown.filter((name) => !later.has(name))).toEqual([]);
});

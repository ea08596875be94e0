import { type AddressInfo, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { beforeAll, expect, it } from 'vitest';
import { advancePruneClock } from '../../src/db/prune-clock.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { type BurstId, type DeliveryId, type EndpointId, type JobId, newId } from '../../src/ids.ts';
import { createDatabaseMetrics } from '../../src/metrics/database.ts';
import { serveMetrics } from '../../src/metrics/serve.ts';
import { boundPace } from '../../src/webhooks/pace/bound.ts';
import { register } from '../support/events.ts';
import { logger, type TestWorkspace, useTestService } from '../support/service.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';
import { type StoredDeliveries, storeDeliveries } from '../webhooks/api/support/deliveries.ts';
import { type Exposition, scrape } from './support/exposition.ts';

const service = useTestService();

let workspace: TestWorkspace;
beforeAll(async () => {
  workspace = await service.workspace();
});

/** The figures from the database behind `connectionString`, served as a worker serves them. */
async function serveDatabaseMetrics(connectionString: string, maxAgeMs?: number) {
  const registry = new Registry();
  const metrics = createDatabaseMetrics({ connectionString, registry, logger, maxAgeMs });
  const served = await serveMetrics(registry, { port: 0 }, [metrics.read]);
  return {
    healthUrl: new URL('/healthz', served.url),
    scrape: (): Promise<Exposition> => scrape(served.url),
    async close() {
      await served.close();
      await metrics.close();
    },
  };
}

const stage = (found: Exposition, name: string) => found.value('webhook_deliveries_open', { stage: name });

it('an empty database has every series, at 0', async () => {
  const metrics = await serveDatabaseMetrics(service.config.DATABASE_URL, 0);
  const found = await metrics.scrape();
  expect(['outbox', 'outbox_retry', 'first_attempt', 'retry'].map((name) => stage(found, name))).toEqual([
    0, 0, 0, 0,
  ]);
  expect(found.value('webhook_outbox_oldest_age_seconds')).toBe(0);
  expect(found.value('webhook_retry_oldest_overdue_seconds')).toBe(0);
  for (const purpose of ['translation', 'ai_operation']) {
    expect(found.value('credit_holds_open', { purpose })).toBe(0);
    expect(found.value('credit_holds_open_credits', { purpose })).toBe(0);
    expect(found.value('credit_holds_oldest_age_seconds', { purpose })).toBe(0);
  }
  expect(found.value('jobs_open', { kind: 'translation', status: 'QUEUED' })).toBe(0);
  expect(found.value('jobs_oldest_age_seconds', { kind: 'translation' })).toBe(0);
  // The partitions were made as the tests began, which may have been before midnight.
  for (const table of ['events', 'webhook_log']) {
    expect(found.value('partitions_ahead_seconds', { table })).toBeGreaterThan(29 * 86_400);
  }
  expect(found.value('postgres_connections', { state: 'active' })).toBeGreaterThan(0);
  expect(found.value('postgres_connections_max')).toBeGreaterThan(10);
  expect(found.value('postgres_oldest_transaction_seconds')).toBeLessThan(60);
  expect(found.value('postgres_database_bytes')).toBeGreaterThan(1_000_000);
  expect(found.value('postgres_transactions_total', { outcome: 'committed' })).toBeGreaterThan(0);
  expect(found.value('postgres_archive_failures_total')).toBe(0);
  expect(found.value('workspaces_emptying_oldest_age_seconds')).toBe(0);
  expect(found.value('prune_last_start_timestamp_seconds')).toBeUndefined();
  expect(found.value('database_metrics_errors_total')).toBe(0);
  expect(found.value('database_metrics_read_timestamp_seconds')).toBeCloseTo(Date.now() / 1_000, -1);
  await metrics.close();
});

it('deliveries are counted by holder, with the longest wait for a worker, whichever endpoint it is', async () => {
  const metrics = await serveDatabaseMetrics(service.config.DATABASE_URL, 0);
  const endpoints = [];
  for (const path of [1, 2, 3, 4, 5]) {
    endpoints.push((await register(service, workspace, `http://127.0.0.1:9/${path}`)).id);
  }
  const [late, running, sending, deleted, paced] = endpoints as [
    EndpointId,
    EndpointId,
    EndpointId,
    EndpointId,
    EndpointId,
  ];
  const ago = (seconds: number) => sql<Date>`now() - make_interval(secs => ${seconds})`;
  const store = (id: EndpointId, more: Omit<StoredDeliveries, 'count' | 'state'>) =>
    storeDeliveries(service.db, workspace, id, { count: 1, state: 'pending', ...more });
  await store(late, {});
  await store(late, { due: ago(300) });
  await store(running, { holder: { in_run: true }, due: ago(9_000) });
  await store(sending, { holder: { burst_id: newId<BurstId>() }, due: ago(9_000) });
  await store(deleted, { due: ago(9_000) });
  // Behind one that is being sent, and of a receiver that says how much it takes.
  await store(sending, { due: ago(8_000) });
  await store(paced, { due: ago(9_000) });
  await inTransaction(service.db, (tx) => boundPace(tx, paced, 1));
  await service.db
    .updateTable('webhook_endpoints')
    .set({ deleted_at: ago(1) })
    .where('id', '=', deleted)
    .execute();
  const [waiting] = await storeDeliveries(service.db, workspace, running, { count: 1, state: 'waiting' });
  const update = (values: Record<string, unknown>) =>
    service.db
      .updateTable('webhook_open')
      .set(values)
      .where('id', '=', waiting as DeliveryId)
      .execute();
  await update({ due_at: ago(90) });
  const found = await metrics.scrape();
  expect([stage(found, 'outbox'), stage(found, 'first_attempt'), stage(found, 'retry')]).toEqual([5, 2, 1]);
  expect(found.value('webhook_outbox_oldest_age_seconds')).toBeGreaterThanOrEqual(300);
  expect(found.value('webhook_outbox_oldest_age_seconds')).toBeLessThan(330);
  expect(found.value('webhook_retry_oldest_overdue_seconds')).toBeGreaterThanOrEqual(90);
  expect(found.value('webhook_retry_oldest_overdue_seconds')).toBeLessThan(120);

  // A retry that is not due yet is not late, however old its event.
  await service.db.deleteFrom('webhook_open').where('endpoint_id', '=', late).execute();
  await update({ in_run: false, due_at: ago(-200) });
  const done = await metrics.scrape();
  expect([stage(done, 'outbox_retry'), stage(done, 'retry')]).toEqual([1, 0]);
  expect(done.value('webhook_outbox_oldest_age_seconds')).toBe(0);
  expect(done.value('webhook_retry_oldest_overdue_seconds')).toBe(0);
  await metrics.close();
});

it('open holds are counted with their credits, and open jobs by their state, until they end', async () => {
  const metrics = await serveDatabaseMetrics(service.config.DATABASE_URL, 0);
  const { translate, cancel } = translating(service);
  const { job } = await translate(workspace, 2_500);
  await service.db
    .updateTable('jobs')
    .set({ created_at: sql<Date>`now() - interval '10 minutes'` })
    .where('id', '=', job.id as JobId)
    .execute();
  await service.db
    .insertInto('holds')
    .values({
      id: newId(),
      workspace_id: workspace.id,
      purpose: 'ai_operation',
      run_id: newId(),
      amount: 7,
      created_at: new Date(Date.now() - 120_000),
    })
    .execute();
  const found = await metrics.scrape();
  expect(found.value('credit_holds_open', { purpose: 'translation' })).toBe(1);
  expect(found.value('credit_holds_open_credits', { purpose: 'translation' })).toBe(job.reservedCredits);
  expect(found.value('credit_holds_open_credits', { purpose: 'ai_operation' })).toBe(7);
  expect(found.value('credit_holds_oldest_age_seconds', { purpose: 'ai_operation' })).toBeGreaterThanOrEqual(
    120,
  );
  expect(found.value('credit_holds_oldest_age_seconds', { purpose: 'translation' })).toBeLessThan(60);
  expect(found.value('jobs_open', { kind: 'translation', status: 'QUEUED' })).toBe(1);
  expect(found.value('jobs_oldest_age_seconds', { kind: 'translation' })).toBeGreaterThanOrEqual(600);

  expect((await cancel(workspace, job.id)).status).toBe(202);
  const after = await metrics.scrape();
  expect(after.value('credit_holds_open', { purpose: 'translation' })).toBe(0);
  expect(after.value('credit_holds_open', { purpose: 'ai_operation' })).toBe(1);
  expect(after.value('jobs_open', { kind: 'translation', status: 'QUEUED' })).toBe(0);
  expect(after.value('jobs_oldest_age_seconds', { kind: 'translation' })).toBe(0);
  await metrics.close();
});

it('however often and by however many it is scraped, the database is read once in ten seconds', async () => {
  const metrics = await serveDatabaseMetrics(service.config.DATABASE_URL);
  const times = new Set<number | undefined>();
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => metrics.scrape()));
    for (const answer of answers) times.add(answer.value('database_metrics_read_timestamp_seconds'));
  }
  expect(times.size).toBe(1);
  expect([...times][0]).toBeGreaterThan(0);
  await metrics.close();
});

it('a scrape succeeds without a database: its series are missing, and that is counted', async () => {
  const { hostname, port } = new URL(service.config.DATABASE_URL);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  const url = new URL(service.config.DATABASE_URL);
  url.host = proxy.address;
  const metrics = await serveDatabaseMetrics(url.href, 0);
  expect((await metrics.scrape()).families.has('jobs_open')).toBe(true);

  await proxy.cut();
  const away = await metrics.scrape();
  expect(away.families.has('jobs_open')).toBe(false);
  expect(away.value('database_metrics_errors_total')).toBe(1);
  expect((await metrics.scrape()).value('database_metrics_errors_total')).toBe(2);

  await proxy.restore();
  await eventually(metrics.scrape, (found) => found.families.has('jobs_open'));
  await metrics.close();
  await proxy.close();
});

it('a scrape succeeds while a table is locked: the series are missing, and that is counted', async () => {
  const metrics = await serveDatabaseMetrics(service.config.DATABASE_URL, 0);
  const blocked = await service.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE holds IN ACCESS EXCLUSIVE MODE`.execute(tx);
    // The table is locked until this has been answered.
    return metrics.scrape();
  });
  expect(blocked.families.has('jobs_open')).toBe(false);
  expect(blocked.value('database_metrics_errors_total')).toBe(1);
  expect((await metrics.scrape()).families.has('jobs_open')).toBe(true);
  await metrics.close();
});

it('a database that accepts connections and says nothing holds a scrape up for two seconds, not for ever', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const metrics = await serveDatabaseMetrics(`postgres://nobody@127.0.0.1:${port}/none`);
  const began = performance.now();
  let scraped = false;
  const scraping = metrics.scrape().finally(() => {
    scraped = true;
  });
  expect((await fetch(metrics.healthUrl)).status).toBe(200);
  expect(scraped).toBe(false);
  expect((await scraping).value('database_metrics_errors_total')).toBe(1);
  expect(performance.now() - began).toBeLessThan(15_000);
  // A failure is remembered as long as an answer is.
  const asked = sockets.size;
  expect((await metrics.scrape()).value('database_metrics_errors_total')).toBe(1);
  expect(sockets.size).toBe(asked);
  await metrics.close();
  for (const socket of sockets) socket.destroy();
  silent.close();
});

it('a workspace whose rows are being removed shows for how long, and a prune when it began', async () => {
  const metrics = await serveDatabaseMetrics(service.config.DATABASE_URL, 0);
  const deleted = await service.workspace();
  const ago = (seconds: number) => sql<Date>`now() - make_interval(secs => ${seconds})`;
  const set = (values: Record<string, unknown>) =>
    service.db.updateTable('workspaces').set(values).where('id', '=', deleted.id).execute();
  await set({ deleted_at: ago(9_000) });
  expect((await metrics.scrape()).value('workspaces_emptying_oldest_age_seconds')).toBe(0);
  await set({ emptying_since: ago(500) });
  await advancePruneClock(service.db, 'a night');
  const found = await metrics.scrape();
  expect(found.value('workspaces_emptying_oldest_age_seconds')).toBeCloseTo(500, -2);
  expect(found.value('prune_last_start_timestamp_seconds')).toBeCloseTo(Date.now() / 1_000, -1);
  await metrics.close();
});

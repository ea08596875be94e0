import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectionName } from '../../../src/db/database.ts';
import { type BurstId, type DeliveryId, newId } from '../../../src/ids.ts';
import { burstWorkflowId } from '../../../src/temporal/ids.ts';
import { emitTogether, rowsOf } from '../../support/events.ts';
import { startProcess } from '../../support/processes.ts';
import type { Receiver } from '../../support/receiver.ts';
import { type TestService, WITH_SCHEDULES } from '../../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { connectOperator, type Operator, reconcileNow } from '../../support/temporal.ts';
import { eventually } from '../../support/wait.ts';
import { burstOf, deliveryIds, serveOne, untilAll, untilReceived } from './support.ts';

let operator: Operator;
beforeAll(async () => {
  operator = await connectOperator();
});
afterAll(() => operator.close());

const COUNT = 400;
const reconcile = ({ config }: TestService) =>
  reconcileNow(operator.client, config.TEMPORAL_TASK_QUEUE_PREFIX, 'deliveries');
/** Answers after a while, so that a burst can be met in the middle. */
const answerSlowly = (receiver: Receiver) => {
  receiver.answer = () => sleep(100, 204);
};

// contract.md W122
it.concurrent('a worker that is lost in mid-burst costs no attempt: what had begun is made again, and nothing else', async ({
  onTestFinished,
}) => {
  const { service, workspace, receiver } = await serveOne(onTestFinished);
  const lost = await startProcess('worker.ts', service.env);
  answerSlowly(receiver);
  await emitTogether(service, workspace, COUNT);
  await untilReceived(receiver, 60);
  lost.kill('SIGKILL');
  await lost.ended;
  // The statements it had sent end without it.
  await eventually(
    async () => {
      const { rows } = await sql`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = ${connectionName('deliveries')}`.execute(
        service.db,
      );
      return rows.length;
    },
    (connections) => connections === 0,
  );
  const begun = await service.db
    .selectFrom('webhook_open')
    .select('id')
    .whereRef('begun', '>', 'attempts')
    .orderBy('id')
    .execute();
  const spent = begun.map(({ id }) => id);
  expect(spent.length).toBeGreaterThan(0);
  expect(spent.length).toBeLessThan(COUNT / 4);
  receiver.answer = () => 204;
  await service.startWorker();
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded', 150_000);
  expect(new Set(deliveryIds(receiver)).size).toBe(COUNT);
  expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
  const others = deliveryIds(receiver).filter((id) => !spent.some((one) => one === id));
  expect(others).toHaveLength(COUNT - spent.length);
}, 180_000);

it.concurrent('a worker that is stopped in mid-burst lets open attempts end and leaves the rest to the next one', async ({
  onTestFinished,
}) => {
  const { service, workspace, receiver } = await serveOne(onTestFinished);
  const worker = await service.startWorker();
  answerSlowly(receiver);
  await emitTogether(service, workspace, COUNT);
  await untilReceived(receiver, 60);
  await worker.stop();
  const sent = receiver.received.length;
  expect(sent).toBeLessThan(COUNT);
  const rows = await rowsOf(service, workspace);
  expect(rows.filter(({ status }) => status === 'succeeded')).toHaveLength(sent);
  receiver.answer = () => 204;
  await service.startWorker();
  await untilAll(service, workspace, ({ status }) => status === 'succeeded', 100_000);
  expect(receiver.received).toHaveLength(COUNT);
  expect((await rowsOf(service, workspace)).every(({ attempts }) => attempts === 1)).toBe(true);
}, 180_000);

it.concurrent('a database that goes away in mid-burst costs no delivery its attempt, and nothing is sent twice', async ({
  onTestFinished,
}) => {
  const { service, workspace, receiver } = await serveOne(onTestFinished);
  const url = new URL(service.config.DATABASE_URL);
  const postgres: TcpProxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = postgres.address;
  const worker = await service.startWorker({}, { DATABASE_URL: url.href });
  let cut = false;
  receiver.answer = async () => {
    if (receiver.received.length >= 100 && !cut) {
      cut = true;
      await postgres.cut();
      setTimeout(() => postgres.restore(), 2_000);
    }
    return 204;
  };
  await emitTogether(service, workspace, COUNT);
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded', 100_000);
  expect(receiver.received).toHaveLength(COUNT);
  expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
  await worker.stop();
  await postgres.close();
}, 180_000);

it.concurrent('a burst that an operator cancels frees what it had, which the next one sends', async ({
  onTestFinished,
}) => {
  const { service, workspace, receiver } = await serveOne(onTestFinished);
  await service.startWorker();
  receiver.answer = () => new Promise<number>(() => undefined);
  await emitTogether(service, workspace, COUNT);
  await untilReceived(receiver, 20);
  const burstId = await burstOf(service, workspace);
  receiver.answer = () => 204;
  const run = operator.client.workflow.getHandle(burstWorkflowId(burstId));
  await run.cancel();
  await expect(run.result()).rejects.toThrow();
  expect(await operator.closed(burstWorkflowId(burstId))).toBe('CANCELLED');
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded', 150_000);
  expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
}, 180_000);

it.concurrent('after a burst that an operator terminated, reconcile frees what was its own', async ({
  onTestFinished,
}) => {
  const { service, workspace, receiver } = await serveOne(onTestFinished);
  await service.startWorker(WITH_SCHEDULES);
  receiver.answer = () => new Promise<number>(() => undefined);
  await emitTogether(service, workspace, COUNT);
  await untilReceived(receiver, 20);
  const burstId = await burstOf(service, workspace);
  await operator.client.workflow.getHandle(burstWorkflowId(burstId)).terminate();
  receiver.answer = () => 204;
  await service.db
    .updateTable('webhook_bursts')
    .set({ started_at: new Date(0) })
    .execute();
  await reconcile(service);
  const rows = await untilAll(
    service,
    workspace,
    (row) => row.burst_id !== burstId || row.ended_at !== null,
    100_000,
  );
  expect(rows).toHaveLength(COUNT);
}, 180_000);

it.concurrent('what a burst had that Temporal does not know is free again, and what had begun is made again under its number', async ({
  onTestFinished,
}) => {
  const { service, workspace, receiver } = await serveOne(onTestFinished);
  await emitTogether(service, workspace, 2);
  const [begun, untouched] = await rowsOf(service, workspace);
  const burstId = newId<BurstId>();
  await service.db
    .insertInto('webhook_bursts')
    .values({ id: burstId, started_at: new Date(0) })
    .execute();
  // The other one's burst has not even a row of its own.
  await service.db.updateTable('webhook_open').set({ burst_id: newId<BurstId>() }).execute();
  await service.db
    .updateTable('webhook_open')
    .set({ begun: 1, burst_id: burstId })
    .where('id', '=', begun?.id ?? newId<DeliveryId>())
    .execute();
  await service.startWorker(WITH_SCHEDULES);
  // Its schedule may not be there yet.
  await eventually(
    () =>
      reconcile(service).then(
        () => true,
        () => false,
      ),
    (begun) => begun,
  );
  await eventually(
    () => rowsOf(service, workspace),
    ([one]) => one?.burst_id === null,
  );
  const [first] = await rowsOf(service, workspace);
  expect(first).toMatchObject({ status: 'pending', attempts: 0 });
  await untilReceived(receiver, 2, 100_000);
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  expect(rows.map(({ id, attempts }) => [id, attempts])).toEqual([
    [begun?.id, 1],
    [untouched?.id, 1],
  ]);
}, 180_000);

it.concurrent('while Temporal is away, what is due is looked for a few times a second, and sent once it is back', async ({
  onTestFinished,
}) => {
  const { service, workspace, receiver } = await serveOne(onTestFinished);
  const [host = '', port] = service.config.TEMPORAL_ADDRESS.split(':');
  const temporal = await startTcpProxy({ host, port: Number(port) });
  await service.startWorker({}, { TEMPORAL_ADDRESS: temporal.address });
  await temporal.cut();
  await emitTogether(service, workspace, 30);
  const transactions = async () => {
    const { rows } = await sql<{ count: number }>`SELECT pg_stat_clear_snapshot(), xact_commit AS count
      FROM pg_stat_database WHERE datname = current_database()`.execute(service.db);
    return rows[0]?.count ?? 0;
  };
  await sleep(1_000);
  const before = await transactions();
  await sleep(2_500);
  expect((await transactions()) - before).toBeLessThan(100);
  expect(receiver.received).toEqual([]);
  temporal.restore();
  await untilAll(service, workspace, ({ status }) => status === 'succeeded', 100_000);
  expect(receiver.received).toHaveLength(30);
  await temporal.close();
}, 180_000);

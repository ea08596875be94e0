import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { inTransaction } from '../../../src/db/transaction.ts';
import { recordEvents } from '../../../src/events/record.ts';
import type { DeliveryId, EndpointId } from '../../../src/ids.ts';
import type { RunningWorker } from '../../../src/processes/worker.ts';
import { deliveryWorkflowId } from '../../../src/temporal/ids.ts';
import {
  articleEvents,
  emit,
  emitSingle,
  makeDue,
  readDeliveryRow,
  register,
  untilDelivery,
} from '../../support/events.ts';
import { startProcess, WITH_THREADS } from '../../support/processes.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { type TestWorkspace, useTestService, WITH_SCHEDULES } from '../../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { connectOperator, type Operator, reconcileNow } from '../../support/temporal.ts';
import { eventually } from '../../support/wait.ts';
import { untilAll } from './support.ts';

const service = useTestService();

let operator: Operator;
let postgres: TcpProxy;
let workerEnv: Record<string, string>;
let worker: RunningWorker;
let receiver: Receiver;
let workspace: TestWorkspace;
let endpoint: { id: EndpointId; secret: string };

beforeAll(async () => {
  operator = await connectOperator();
  const url = new URL(service.config.DATABASE_URL);
  postgres = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = postgres.address;
  workerEnv = { ...service.env, DATABASE_URL: url.href };
  worker = await service.startWorker(WITH_SCHEDULES, { DATABASE_URL: url.href });
});
afterAll(async () => {
  await operator.close();
  await postgres.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
  workspace = await service.workspace();
  endpoint = await register(service, workspace, receiver.url);
  return () => receiver.close();
});

const emitOne = () => emitSingle(service, workspace);
/** A delivery whose run Temporal does not know, and whose next attempt is due: no worker ever sees it otherwise. */
const storeInRun = (made: { attempts: number; begun: number }): Promise<DeliveryId> =>
  inTransaction(service.db, async (tx) => {
    await recordEvents(tx, workspace.context, articleEvents(1));
    const { id } = await tx
      .updateTable('webhook_open')
      .set({
        in_run: true,
        status: 'failed',
        ...made,
        response_status: 503,
        error_message: 'The receiver responded with 503.',
        due_at: new Date(Date.now() - 1_000),
      })
      .where('workspace_id', '=', workspace.id)
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  });
const reconcile = () =>
  reconcileNow(operator.client, service.config.TEMPORAL_TASK_QUEUE_PREFIX, 'deliveries');

it('a database that goes away once the receiver has responded costs no second send: the outcome is recorded later', async () => {
  receiver.answer = async () => {
    await postgres.cut();
    setTimeout(() => postgres.restore(), 2_000);
    return 204;
  };
  const id = await emitOne();
  const row = await untilDelivery(service, id, (delivery) => delivery.status !== 'pending');
  expect(row).toMatchObject({ status: 'succeeded', attempts: 1, response_status: 204 });
  expect(await operator.closed(deliveryWorkflowId(id))).toBe('COMPLETED');
  expect(receiver.received).toHaveLength(1);
});

// contract.md D24
it('what a receiver says stays out of Temporal, also while the database is away', async () => {
  receiver.words = 'Confidential words of the receiver';
  receiver.answer = async () => {
    await postgres.cut();
    setTimeout(() => postgres.restore(), 2_000);
    return 404;
  };
  const id = await emitOne();
  const row = await untilDelivery(service, id, (delivery) => delivery.status !== 'pending');
  expect(row).toMatchObject({ status: 'failed', attempts: 1, response_status: 404 });
  expect(await operator.closed(deliveryWorkflowId(id))).toBe('FAILED');
  const kept = await operator.kept(deliveryWorkflowId(id));
  expect(kept).toContain('The receiver responded with 404.');
  expect(kept).not.toContain('Confidential');
});

it('an outcome that Postgres refuses for good ends the run after one send, and reconcile ends the row', async () => {
  await sql`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '22003'; END $$`.execute(service.db);
  await sql`
    CREATE TRIGGER refuse BEFORE INSERT ON webhook_log FOR EACH ROW
    WHEN (NEW.workspace_id = ${sql.lit(workspace.id)}) EXECUTE FUNCTION refuse()`.execute(service.db);
  const id = await emitOne();
  expect(await operator.closed(deliveryWorkflowId(id), 60_000)).toBe('FAILED');
  expect(await readDeliveryRow(service, id)).toMatchObject({
    status: 'pending',
    attempts: 0,
    ended_at: null,
  });
  await sql`DROP TRIGGER refuse ON webhook_log`.execute(service.db);
  await makeDue(service, id);
  await reconcile();
  const row = await untilDelivery(service, id, (delivery) => delivery.ended_at !== null);
  expect(row).toMatchObject({ status: 'failed', attempts: 0 });
  expect(receiver.received).toHaveLength(1);
});

it('a database that is away before the send costs no attempt', async () => {
  const id = await emitOne();
  await postgres.cut();
  setTimeout(() => postgres.restore(), 3_000);
  const row = await untilDelivery(service, id, (delivery) => delivery.status !== 'pending');
  expect(row).toMatchObject({ status: 'succeeded', attempts: 1 });
  expect(receiver.received).toHaveLength(1);
});

it("an operator's reset sends at once, numbers on, and the next wait is that of the attempt's number", async () => {
  receiver.answer = () => 503;
  const id = await emitOne();
  await untilDelivery(service, id, (delivery) => delivery.attempts === 1);
  await operator.reset(deliveryWorkflowId(id));
  const row = await untilDelivery(service, id, (delivery) => delivery.attempts === 2);
  const wait = (row.due_at?.getTime() ?? 0) - (receiver.received[1]?.at ?? 0);
  expect(wait).toBeGreaterThan(59_900);
  expect(wait).toBeLessThan(90_000);
  expect(receiver.received).toHaveLength(2);
});

// contract.md D3 and D13
it('six failures end the delivery as failed, its run FAILED, each attempt with a fresh signature and the same delivery id', async () => {
  receiver.answer = () => 503;
  const id = await emitOne();
  await untilDelivery(service, id, (delivery) => delivery.attempts === 1);
  await operator.hurry(deliveryWorkflowId(id));
  expect(await operator.closed(deliveryWorkflowId(id))).toBe('FAILED');
  expect(await readDeliveryRow(service, id)).toMatchObject({
    status: 'failed',
    attempts: 6,
    response_status: 503,
    due_at: null,
    ended_at: expect.any(Date),
  });
  expect(receiver.received).toHaveLength(6);
  const of = (header: string) => new Set(receiver.received.map((request) => request.headers[header]));
  expect(of('x-service-delivery')).toEqual(new Set([id]));
  expect(of('x-service-signature').size).toBeGreaterThan(3);
  const { attempt_log: log } = await readDeliveryRow(service, id);
  expect(log.map(({ number, responseStatus }) => [number, responseStatus])).toEqual(
    [1, 2, 3, 4, 5, 6].map((number) => [number, 503]),
  );
});

// contract.md D16
it('an endpoint disabled while a retry waits ends the delivery: endpoint disabled, attempts unchanged, nothing sent', async () => {
  receiver.answer = () => 503;
  const id = await emitOne();
  await untilDelivery(service, id, (delivery) => delivery.attempts === 1);
  await service.db
    .updateTable('webhook_endpoints')
    .set({ active: false })
    .where('id', '=', endpoint.id)
    .execute();
  await operator.hurry(deliveryWorkflowId(id));
  const row = await untilDelivery(service, id, (delivery) => delivery.ended_at !== null);
  expect(row).toMatchObject({ status: 'failed', attempts: 1, error_message: 'endpoint disabled' });
  expect(receiver.received).toHaveLength(1);
});

it('a run that Temporal does not know is started under its id and takes the schedule up where it was', async () => {
  receiver.answer = () => 503;
  const id = await storeInRun({ attempts: 3, begun: 3 });
  await reconcile();
  const row = await untilDelivery(service, id, (delivery) => delivery.attempts === 4);
  const wait = (row.due_at?.getTime() ?? 0) - (receiver.received[0]?.at ?? 0);
  expect(wait).toBeGreaterThan(239_900);
  expect(receiver.received).toHaveLength(1);
  const pending = await eventually(
    () => operator.pendingActivity(deliveryWorkflowId(id)),
    (activity) => activity?.attempt !== 1,
  );
  expect(pending).toMatchObject({ id: 'deliver-from-4', attempt: 2 });
});

// contract.md W122
it('a run that Temporal does not know, whose sixth attempt had begun, makes that again', async () => {
  const id = await storeInRun({ attempts: 5, begun: 6 });
  await reconcile();
  const [row] = await untilAll(service, workspace, ({ ended_at }) => ended_at !== null, 150_000);
  expect(await operator.closed(deliveryWorkflowId(id))).toBe('COMPLETED');
  expect(row).toMatchObject({ status: 'succeeded', attempts: 6 });
  expect(receiver.received).toHaveLength(1);
}, 180_000);

// contract.md D14
it('two workers, one killed in mid-attempt: every event arrives, under one delivery id, and the lost attempt is made again', async () => {
  await worker.stop();
  const lost = await startProcess('worker.ts', { ...workerEnv, ...WITH_THREADS });
  let hold: () => void = () => undefined;
  receiver.answer = () =>
    new Promise<number>((resolve) => {
      hold = () => resolve(204);
    });
  const id = await emitOne();
  await eventually(
    async () => receiver.received.length,
    (count) => count === 1,
  );
  lost.kill('SIGKILL');
  await lost.ended;
  hold();
  receiver.answer = () => 204;
  worker = await service.startWorker(WITH_SCHEDULES, { DATABASE_URL: workerEnv.DATABASE_URL ?? '' });
  const beside = await startProcess('worker.ts', workerEnv);
  const others = (
    await Promise.all(Array.from({ length: 20 }, (_, index) => emit(service, workspace, `Event ${index}`)))
  ).flat();
  for (const other of others) await untilDelivery(service, other, (row) => row.status === 'succeeded');
  beside.kill('SIGTERM');
  expect(await beside.ended).toBe(0);
  // Half a minute later; twenty looks a second would cost Temporal more than all that is sent.
  await eventually(
    () => sleep(500).then(() => operator.pendingActivity(deliveryWorkflowId(id))),
    (activity) => (activity?.attempt ?? 0) >= 2,
    40_000,
  );
  await operator.hurry(deliveryWorkflowId(id));
  await untilAll(service, workspace, ({ status }) => status === 'succeeded', 150_000);
  expect((await readDeliveryRow(service, id)).attempts).toBe(1);
  const sent = receiver.received.map((request) => request.headers['x-service-delivery']);
  expect(new Set(sent)).toEqual(new Set([id, ...others]));
  expect(sent).toHaveLength(others.length + 2);
}, 240_000);

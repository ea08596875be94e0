import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it, type TestContext } from 'vitest';
import { freeBurst } from '../../../src/webhooks/deliveries/free-burst.ts';
import { emit, emitTogether, readDeliveryRow, rowsOf } from '../../support/events.ts';
import { startProcess } from '../../support/processes.ts';
import type { Receiver } from '../../support/receiver.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { openGate, UNAUTHENTICATED } from '../../support/temporal-gate.ts';
import { eventually } from '../../support/wait.ts';
import { burstOf, deliveryIds, serveOne, subscribe, untilAll, untilReceived } from './support.ts';

const COUNT = 200;

/** Each delivery arrived, none of them twice. */
const expectEachOnce = (receiver: Receiver, ids: readonly string[]) =>
  expect(deliveryIds(receiver).sort()).toEqual([...ids].sort());

it.concurrent('Postgres that falls silent in mid-burst and never speaks again on its connections costs no attempt, and nothing is sent twice', async ({
  onTestFinished,
}) => {
  const { service, workspace, receiver } = await serveOne(onTestFinished);
  const url = new URL(service.config.DATABASE_URL);
  const postgres = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = postgres.address;
  const worker = await service.startWorker(
    {},
    { DATABASE_URL: url.href, DATABASE_STATEMENT_TIMEOUT_SECONDS: '2' },
  );
  receiver.answer = () => sleep(50, 204);
  // More than are sent before it is silent.
  const count = 500;
  await emitTogether(service, workspace, count);
  await untilReceived(receiver, 60);
  postgres.silence();
  await sleep(5_000);
  const sent = receiver.received.length;
  expect(sent).toBeLessThan(count);
  postgres.speak({ lost: true });
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded', 100_000);
  expectEachOnce(
    receiver,
    rows.map(({ id }) => id),
  );
  expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
  await worker.stop();
  await postgres.close();
}, 180_000);

/** A worker as a process of its own, stopped with 20 of the deliveries in flight, all of which are answered 204 then. */
async function frozenInMidBurst({ onTestFinished }: TestContext) {
  const { service, workspace, receiver } = await serveOne(onTestFinished);
  const frozen = await startProcess('worker.ts', service.env);
  onTestFinished(() => frozen.kill('SIGKILL'));
  const answered = Promise.withResolvers<number>();
  receiver.answer = () => answered.promise;
  await emitTogether(service, workspace, COUNT);
  await untilReceived(receiver, 20);
  const burstId = await burstOf(service, workspace);
  frozen.kill('SIGSTOP');
  receiver.answer = () => 204;
  answered.resolve(204);
  return { service, workspace, receiver, frozen, burstId };
}

it.concurrent('the responses to a frozen worker count when it continues, although its burst was freed meanwhile', async (context) => {
  const { service, workspace, receiver, frozen, burstId } = await frozenInMidBurst(context);
  expect(await freeBurst(service.db, burstId)).toBe(20);
  expect((await rowsOf(service, workspace)).every(({ attempts }) => attempts === 0)).toBe(true);
  frozen.kill('SIGCONT');
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  expectEachOnce(
    receiver,
    rows.map(({ id }) => id),
  );
  expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
  frozen.kill('SIGTERM');
  expect(await frozen.ended).toBe(0);
}, 100_000);

it.concurrent('a worker that is frozen for longer than its burst lives costs no attempt: what it had begun is made again', async (context) => {
  const { service, workspace, receiver, frozen } = await frozenInMidBurst(context);
  const begun = deliveryIds(receiver);
  await service.startWorker();
  const isLost = async () =>
    (await sql`SELECT FROM webhook_open WHERE losses > 0 LIMIT 1`.execute(service.db)).rows.length > 0;
  await eventually(isLost, (lost) => lost, 60_000);
  frozen.kill('SIGCONT');
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded', 100_000);
  // What the frozen one is handed may come too late there.
  expect(Math.max(...rows.map(({ attempts }) => attempts))).toBeLessThanOrEqual(2);
  const counts = Map.groupBy(deliveryIds(receiver), (id) => id);
  expect(counts.size).toBe(COUNT);
  for (const [id, all] of counts) expect(all.length).toBeLessThanOrEqual(begun.includes(id) ? 2 : 1);
  frozen.kill('SIGTERM');
  expect(await frozen.ended).toBe(0);
}, 180_000);

it.concurrent('Temporal that is away for ten seconds delays what is due, and nothing is lost or sent twice', async ({
  onTestFinished,
}) => {
  const { service, workspace, receiver } = await serveOne(onTestFinished);
  const few = await subscribe(service);
  const [host = '', port] = service.config.TEMPORAL_ADDRESS.split(':');
  const temporal = await startTcpProxy({ host, port: Number(port) });
  const worker = await service.startWorker({}, { TEMPORAL_ADDRESS: temporal.address });
  await emit(service, few.workspace);
  await untilReceived(few.receiver, 1);

  await temporal.cut();
  await Promise.all([1, 2, 3].map(() => emit(service, few.workspace)));
  await emitTogether(service, workspace, COUNT);
  await sleep(10_000);
  expect([receiver.received.length, few.receiver.received.length]).toEqual([0, 1]);
  await temporal.restore();

  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded', 100_000);
  expectEachOnce(
    receiver,
    rows.map(({ id }) => id),
  );
  const others = await untilAll(service, few.workspace, ({ status }) => status === 'succeeded', 100_000);
  expect(deliveryIds(few.receiver).sort()).toEqual(others.map(({ id }) => id).sort());
  expect([...rows, ...others].every(({ attempts }) => attempts === 1)).toBe(true);
  await worker.stop();
  await temporal.close();
  await few.receiver.close();
}, 180_000);

it.concurrent('a delivery whose start is not known to have succeeded stays with its run while a burst sends beside it', async ({
  onTestFinished,
}) => {
  const { service, workspace, receiver } = await serveOne(onTestFinished);
  const gate = await openGate(service.config.TEMPORAL_ADDRESS, 'key', UNAUTHENTICATED);
  onTestFinished(() => gate.close());
  let starts = 0;
  gate.loses = (method) => {
    if (method === 'StartWorkflowExecution') starts += 1;
    return method === 'StartWorkflowExecution' && starts === 1;
  };
  const worker = await service.startWorker(
    {},
    { TEMPORAL_ADDRESS: gate.address, TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: 'key' },
  );
  receiver.answer = () => sleep(50, 204);
  const [id] = await emit(service, workspace);
  if (id === undefined) throw new Error('no delivery was stored');
  await eventually(
    async () => starts,
    (count) => count === 1,
  );
  await emitTogether(service, workspace, COUNT);
  await untilReceived(receiver, 20);
  expect(await readDeliveryRow(service, id)).toMatchObject({ in_run: true, attempts: 0 });

  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded', 100_000);
  expectEachOnce(
    receiver,
    rows.map((row) => row.id),
  );
  const ways = rows.filter(({ in_run }) => in_run);
  expect(ways.map((row) => [row.id, row.attempts])).toEqual([[id, 1]]);
  await worker.stop();
}, 180_000);

import { beforeAll, expect, it } from 'vitest';
import type { EndpointId } from '../../../src/ids.ts';
import { emit, emitTogether, register, rowsOf } from '../../support/events.ts';
import { startReceiver } from '../../support/receiver.ts';
import { useTestService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { subscribe, untilAll, untilReceived } from '../relay/support.ts';
import { bucket } from './support.ts';

const service = useTestService();
beforeAll(async () => {
  await service.startWorker();
});

const paceOf = ({ id }: { id: EndpointId }) =>
  service.db.selectFrom('webhook_paces').selectAll().where('endpoint_id', '=', id).executeTakeFirst();

// contract.md W73 and W77
it('a receiver that takes fifty a second gets a backlog from two workers with few refusals, and a neighbour is not held up', async () => {
  const second = await service.startWorker();
  const limited = await subscribe(service);
  const other = await subscribe(service);
  const limiter = bucket(50, 50, false);
  const startedAt = performance.now();
  const statuses: number[] = [];
  limited.receiver.answer = () => {
    const status = limiter((performance.now() - startedAt) / 1_000) === 'taken' ? 204 : 429;
    statuses.push(status);
    return status;
  };
  await emitTogether(service, limited.workspace, 700);
  await eventually(
    async () => statuses.includes(429),
    (isRefused) => isRefused,
  );
  await emitTogether(service, other.workspace, 200);
  const taken = () => statuses.filter((status) => status === 204).length;
  await untilAll(service, other.workspace, ({ status }) => status === 'succeeded');
  expect(taken()).toBeLessThan(700);
  await eventually(
    async () => taken(),
    (count) => count >= 550,
    40_000,
  );
  expect(statuses.length - taken()).toBeLessThan(100);
  await second.stop();
  await Promise.all([limited.receiver.close(), other.receiver.close()]);
}, 60_000);

// contract.md W74
it('nothing is sent before Retry-After, of a 503 as well, and waiting spends no attempt', async () => {
  let refusedAt = 0;
  const at: number[] = [];
  const receiver = await startReceiver((_request, response) => {
    at.push(performance.now());
    if (refusedAt > 0) return void response.writeHead(204).end();
    refusedAt = performance.now();
    response.writeHead(503, { 'retry-after': '4' }).end();
  });
  const workspace = await service.workspace();
  const endpoint = await register(service, workspace, receiver.url);
  await emit(service, workspace);
  await eventually(
    () => paceOf(endpoint),
    (pace) => pace !== undefined,
  );
  // Few, which get runs, and a backlog.
  for (const count of [1, 1, 30]) await emitTogether(service, workspace, count);
  await untilReceived(receiver, 4, 30_000);
  const [, second = 0] = at;
  expect(second - refusedAt).toBeGreaterThanOrEqual(3_990);
  const rows = await rowsOf(service, workspace);
  const attempted = rows.filter(({ attempts }) => attempts > 0);
  expect(attempted.every(({ attempts }) => attempts === 1)).toBe(true);
  await receiver.close();
}, 60_000);

// contract.md W76
it('a rate limit bounds what is sent, in runs and in bursts, until it is removed', async () => {
  const { workspace, endpoint, receiver } = await subscribe(service);
  const settings = (rateLimit: number | null) =>
    service.call(workspace.key, 'PUT', `/api/workspaces/${workspace.id}/webhooks/${endpoint.id}/settings`, {
      description: '',
      rateLimit,
    });
  expect((await settings(20)).status).toBe(200);
  await emit(service, workspace);
  await untilReceived(receiver, 1);
  await emitTogether(service, workspace, 60);
  await untilReceived(receiver, 61, 20_000);
  const times = receiver.received.map(({ at }) => at).sort((a, b) => a - b);
  const took = (times.at(-1) ?? 0) - (times[1] ?? 0);
  expect(took).toBeGreaterThan(2_700);
  expect(took).toBeLessThan(6_000);
  await settings(null);
  await emitTogether(service, workspace, 200);
  const sentAt = Date.now();
  await untilReceived(receiver, 261);
  expect(Date.now() - sentAt).toBeLessThan(3_000);
  await receiver.close();
}, 60_000);

// contract.md W75
it('a run that meets a pace sends nothing until it has a place, and its attempt keeps its number', async () => {
  const { workspace, endpoint, receiver } = await subscribe(service);
  receiver.answer = () => (receiver.received.length === 1 ? 500 : 204);
  const [id] = await emit(service, workspace);
  if (id === undefined) throw new Error('nothing stored');
  await untilAll(service, workspace, ({ attempts }) => attempts === 1);
  await service.db
    .insertInto('webhook_paces')
    .values({
      endpoint_id: endpoint.id,
      max_rate: 1,
      rate: 1,
      next_at: new Date(Date.now() + 34_000),
    })
    .execute();
  await untilReceived(receiver, 2, 60_000);
  const [first, second] = receiver.received;
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(32_500);
  const [row] = await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  expect(row).toMatchObject({ id, attempts: 2 });
  await receiver.close();
}, 90_000);

import { afterAll, beforeAll, expect, it } from 'vitest';
import { emit, emitTogether, rowsOf } from '../../support/events.ts';
import { type Received, startReceiver } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import {
  accepts,
  verifyServiceSignature as byService,
  verifyStandardSignature as byStandard,
} from '../../support/verifiers.ts';
import { subscribe, untilAll, untilReceived } from './support.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.startWorker();
});
afterAll(() => service.stop());

const eventIdOf = ({ headers }: Received) => headers['webhook-id'];

// contract.md W60
it('the libraries of Standard Webhooks and of Stripe accept what runs and bursts send, and nothing that was changed', async () => {
  const { workspace, receiver, endpoint } = await subscribe(service);
  await emit(service, workspace);
  await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  await emitTogether(service, workspace, 100);
  await untilReceived(receiver, 101);
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  expect(new Set(rows.map(({ in_run }) => in_run))).toEqual(new Set([true, false]));
  for (const request of receiver.received) {
    byService(request, endpoint.secret);
    byStandard(request, endpoint.secret);
    expect(request.headers['webhook-timestamp']).toBe(request.headers['x-service-timestamp']);
  }
  const [first] = receiver.received;
  if (first === undefined) throw new Error('nothing was received');
  const changed = {
    body: { ...first, raw: Buffer.from(first.raw.toString().replace('garden', 'Garden')) },
    id: { ...first, headers: { ...first.headers, 'webhook-id': 'another' } },
    time: { ...first, headers: { ...first.headers, 'webhook-timestamp': '1' } },
  };
  for (const request of Object.values(changed)) {
    expect(accepts(byStandard, request, endpoint.secret)).toBe(false);
  }
  const ids = new Map(rows.map(({ id, event_id }) => [id as string, event_id as string]));
  for (const request of receiver.received) {
    expect(eventIdOf(request)).toBe(ids.get(request.headers['x-service-delivery'] ?? ''));
  }
  await receiver.close();
});

// contract.md W60
it('the id is that of the event: the same for each endpoint, after a redirect and in a redelivery', async () => {
  const { workspace, receiver, endpoint } = await subscribe(service);
  const moved = await startReceiver((_request, response) => {
    response.writeHead(307, { location: receiver.url }).end();
  });
  await service.call(workspace.key, 'POST', `/api/workspaces/${workspace.id}/webhooks`, {
    url: moved.url,
    events: ['article.created'],
  });
  const [first] = await emit(service, workspace);
  await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  const path = `/api/workspaces/${workspace.id}/webhooks/deliveries/${first}/redeliver`;
  expect((await service.call(workspace.key, 'POST', path)).status).toBe(202);
  await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  const sent = [...receiver.received, ...moved.received];
  expect(sent.length).toBeGreaterThanOrEqual(4);
  expect(new Set(sent.map(eventIdOf))).toEqual(
    new Set((await rowsOf(service, workspace)).map(({ event_id }) => event_id)),
  );
  expect(new Set(sent.map(eventIdOf)).size).toBe(1);
  const own = receiver.received.filter((request) => accepts(byService, request, endpoint.secret));
  expect(own.length).toBeGreaterThan(0);
  expect(own.every((request) => accepts(byStandard, request, endpoint.secret))).toBe(true);
  await Promise.all([receiver.close(), moved.close()]);
});

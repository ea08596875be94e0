import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import type { DeliveryId, EndpointId } from '../../../src/ids.ts';
import { register } from '../../support/events.ts';
import { type TestWorkspace, useTestService } from '../../support/service.ts';
import { storeDeliveries } from './support/deliveries.ts';

const service = useTestService();

let workspace: TestWorkspace;
let one: EndpointId;
let two: EndpointId;

beforeEach(async () => {
  workspace = await service.workspace();
  ({ id: one } = await register(service, workspace, 'http://127.0.0.1:9/one'));
  ({ id: two } = await register(service, workspace, 'http://127.0.0.1:9/two'));
});

const list = (query: Record<string, string>) =>
  service.call(
    workspace.key,
    'GET',
    `/api/workspaces/${workspace.id}/webhooks/deliveries?${new URLSearchParams(query)}`,
  );

/** All pages of a filter. */
async function walk(query: Record<string, string> = {}): Promise<{ ids: DeliveryId[]; pages: number }> {
  const ids: DeliveryId[] = [];
  for (let pages = 1, cursor: string | null = ''; ; pages += 1) {
    const { status, body } = await list(cursor === '' ? query : { ...query, cursor: cursor ?? '' });
    expect(status).toBe(200);
    ids.push(...body.deliveries.map(({ id }: { id: DeliveryId }) => id));
    cursor = body.nextCursor;
    if (cursor === null) return { ids, pages };
  }
}

const newestFirst = (...ids: readonly DeliveryId[][]) => ids.flat().sort().reverse();
const HOUR = 3_600;
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();

// contract.md W68
it('pages through open and ended deliveries of every status once, newest first, by each filter and all together', async () => {
  const store = (endpoint: EndpointId, state: 'pending' | 'waiting' | 'failed' | 'succeeded', age: number) =>
    storeDeliveries(service.db, workspace, endpoint, { count: 7, state, age });
  const pending = await store(one, 'pending', 1);
  const waiting = await store(two, 'waiting', 2 * HOUR);
  const failed = await store(one, 'failed', 3 * HOUR);
  const failedToday = await store(two, 'failed', 1);
  const succeeded = await store(one, 'succeeded', 30 * HOUR);
  const typed = await store(two, 'succeeded', 4 * HOUR);
  await sql`UPDATE webhook_log SET event_type = 'article.updated' WHERE id = ANY (${typed}::uuid[])`.execute(
    service.db,
  );
  const all = newestFirst(pending, waiting, failed, failedToday, succeeded, typed);
  for (const limit of ['1', '5', '50']) expect((await walk({ limit })).ids).toEqual(all);
  expect((await walk({ limit: '5' })).pages).toBe(9);
  expect((await walk({ status: 'pending' })).ids).toEqual(newestFirst(pending));
  expect((await walk({ status: 'failed', limit: '6' })).ids).toEqual(
    newestFirst(waiting, failed, failedToday),
  );
  expect((await walk({ endpointId: one, limit: '4' })).ids).toEqual(newestFirst(pending, failed, succeeded));
  expect((await walk({ endpointId: one, status: 'failed' })).ids).toEqual(newestFirst(failed));
  expect((await walk({ endpointId: one, status: 'pending' })).ids).toEqual(newestFirst(pending));
  expect((await walk({ eventType: 'article.updated', limit: '3' })).ids).toEqual(newestFirst(typed));
  expect((await walk({ since: ago(5 * HOUR), until: ago(HOUR) })).ids).toEqual(
    newestFirst(waiting, failed, typed),
  );
  expect((await walk({ since: ago(60), endpointId: two, status: 'failed' })).ids).toEqual(
    newestFirst(failedToday),
  );
  const { body } = await list({ status: 'failed', endpointId: two, limit: '1', until: ago(HOUR) });
  expect(body.deliveries).toEqual([
    {
      id: newestFirst(waiting)[0],
      endpointId: two,
      eventId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      eventType: 'article.created',
      status: 'failed',
      attempts: 1,
      responseStatus: 500,
      errorMessage: 'The receiver responded with 500.',
      deliveredAt: null,
      createdAt: expect.any(String),
      nextAttemptAt: expect.any(String),
    },
  ]);
});

// contract.md W68
it('reads a bounded part of a long log for a filter that leaves next to nothing, and still finds it', async () => {
  const rare = await storeDeliveries(service.db, workspace, two, {
    count: 1,
    state: 'pending',
    age: 9 * HOUR,
  });
  await sql`UPDATE webhook_open SET event_type = 'image.generated' WHERE id = ANY (${rare}::uuid[])`.execute(
    service.db,
  );
  for (const age of [HOUR, 2 * HOUR, 10 * HOUR]) {
    const stored = { count: 1_500, state: 'succeeded', age, withEvents: false } as const;
    await storeDeliveries(service.db, workspace, one, stored);
  }
  const { ids, pages } = await walk({ eventType: 'image.generated' });
  expect(ids).toEqual(rare);
  expect(pages).toBe(5);
  const other = await walk({ endpointId: two });
  expect(other).toEqual({ ids: rare, pages: 1 });
});

// contract.md W12 and W68
it('shows nothing of other workspaces and deleted endpoints, and names what it cannot read', async () => {
  await storeDeliveries(service.db, workspace, one, { count: 3, state: 'failed' });
  const kept = await storeDeliveries(service.db, workspace, two, { count: 2, state: 'failed' });
  const stranger = await service.workspace();
  const foreign = await register(service, stranger, 'http://127.0.0.1:9/');
  await storeDeliveries(service.db, stranger, foreign.id, { count: 2, state: 'failed' });
  await service.call(workspace.key, 'DELETE', `/api/workspaces/${workspace.id}/webhooks/${one}`);
  expect((await walk()).ids).toEqual(newestFirst(kept));
  for (const endpointId of [one, foreign.id]) expect((await list({ endpointId })).status).toBe(404);
  for (const [name, value] of [
    ['endpointId', 'x'],
    ['eventType', 'article.moved'],
    ['status', 'open'],
    ['since', 'yesterday'],
    ['until', '1'],
    ['cursor', 'x'],
    ['limit', '101'],
  ] as const) {
    const { status, body } = await list({ [name]: value });
    expect([status, body.errors[0].pointer]).toEqual([400, `query/${name}`]);
  }
});

import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import type { DeliveryId, EndpointId } from '../../../src/ids.ts';
import { register } from '../../support/events.ts';
import { type TestWorkspace, useTestService } from '../../support/service.ts';
import { storeDeliveries } from './support/deliveries.ts';

// No worker: this is about what is queued.
const service = useTestService();

let workspace: TestWorkspace;
let endpoint: EndpointId;

beforeEach(async () => {
  workspace = await service.workspace();
  ({ id: endpoint } = await register(service, workspace, 'http://127.0.0.1:9/'));
});

const HOUR = 3_600;
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
const redeliver = (body: object) =>
  service.call(workspace.key, 'POST', `/api/workspaces/${workspace.id}/webhooks/${endpoint}/redeliver`, body);
const store = (state: 'failed' | 'succeeded', age: number, count = 3, withEvents = true) =>
  storeDeliveries(service.db, workspace, endpoint, { count, state, age, withEvents });
/** The events of deliveries, in their order. */
const eventsOf = async (ids: readonly DeliveryId[]) => {
  const { rows } = await sql<{ event_id: string }>`
    SELECT event_id FROM webhook_log WHERE id = ANY (${ids}::uuid[]) ORDER BY created_at, id`.execute(
    service.db,
  );
  return rows.map(({ event_id }) => event_id);
};
/** The events of what is queued, in the order they are due in. */
const queued = async () => {
  const { rows } = await sql<{ event_id: string }>`
    SELECT event_id FROM webhook_open WHERE endpoint_id = ${endpoint} ORDER BY id`.execute(service.db);
  return rows.map(({ event_id }) => event_id);
};

// contract.md W71
it('queues what lies in the range, of the events and the status asked for, oldest first, and nothing in a dry run', async () => {
  await store('failed', 9 * HOUR);
  const failed = [...(await store('failed', 5 * HOUR)), ...(await store('failed', 4 * HOUR))];
  const typed = await store('failed', 3 * HOUR, 2);
  await sql`UPDATE webhook_log SET event_type = 'article.updated' WHERE id = ANY (${typed}::uuid[])`.execute(
    service.db,
  );
  const succeeded = await store('succeeded', 4.5 * HOUR);
  await store('failed', HOUR);
  const range = { since: ago(6 * HOUR), until: ago(2 * HOUR) };
  const dry = { ...range, dryRun: true };
  expect((await redeliver(dry)).body).toEqual({ count: 8, nextCursor: null });
  expect((await redeliver({ ...dry, events: ['article.updated', 'article.created'] })).body.count).toBe(8);
  expect((await redeliver({ ...dry, events: ['article.updated'] })).body.count).toBe(2);
  expect((await redeliver({ ...dry, status: 'succeeded' })).body.count).toBe(3);
  expect(await queued()).toEqual([]);

  expect((await redeliver({ ...range, events: ['article.created'] })).body).toEqual({
    count: 6,
    nextCursor: null,
  });
  expect(await queued()).toEqual(await eventsOf(failed));
  expect((await redeliver(dry)).body.count).toBe(2);
  expect((await redeliver({ ...range, status: 'succeeded' })).body.count).toBe(3);
  expect((await queued()).slice(6)).toEqual(await eventsOf(succeeded));
  // What was queued again counts no more, open or ended; nor does a first delivery that waits.
  await sql`UPDATE webhook_open SET status = 'failed', attempts = 1`.execute(service.db);
  expect((await redeliver({ ...range, status: 'succeeded' })).body.count).toBe(0);
  const audit = await service.db
    .selectFrom('audit_entries')
    .select('details')
    .where('action', '=', 'webhooks.redelivered')
    .where('workspace_id', '=', workspace.id)
    .orderBy('created_at')
    .execute();
  expect(audit.map(({ details }) => (details as { count: number }).count)).toEqual([6, 3, 0]);
  expect(audit[0]?.details).toMatchObject({ status: 'failed', events: ['article.created'] });
});

// contract.md W13 and W71
it('goes on by the cursor, past what a filter leaves out, and takes each event once', async () => {
  await store('failed', 9 * HOUR, 20_500, false);
  const wanted = await store('succeeded', 3 * HOUR, 5);
  const body = { since: ago(10 * HOUR), status: 'succeeded' };
  const first = await redeliver(body);
  expect(first.body).toEqual({ count: 0, nextCursor: expect.any(String) });
  const second = await redeliver({ ...body, cursor: first.body.nextCursor });
  expect(second.body).toEqual({ count: 5, nextCursor: null });
  expect(await queued()).toEqual(await eventsOf(wanted));
  expect((await redeliver({ ...body, cursor: first.body.nextCursor })).body.count).toBe(0);
});

// contract.md W71
it('names what is wrong with a request', async () => {
  const since = ago(HOUR);
  for (const [pointer, body] of [
    ['/until', { since, until: 'now' }],
    ['/events', { since, events: [] }],
    ['/events/0', { since, events: ['article.moved'] }],
    ['/status', { since, status: 'pending' }],
    ['/cursor', { since, status: 'missed', cursor: 'x' }],
    ['/dryRun', { since, dryRun: 'yes' }],
    ['/cursor', { since, cursor: 'x' }],
  ] as const) {
    const { status, body: problem } = await redeliver(body);
    expect([status, problem.errors[0].pointer]).toEqual([400, pointer]);
  }
});

import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { FIRST, numberEvents } from '../../../src/events/log/number-events.ts';
import type { EndpointId } from '../../../src/ids.ts';
import { forgetMissed } from '../../../src/webhooks/backlog/redeliver-missed.ts';
import { refill } from '../../../src/webhooks/backlog/refill.ts';
import { BACKLOG_BOUNDS } from '../../../src/webhooks/backlog/states.ts';
import { emitTogether, register } from '../../support/events.ts';
import { type TestWorkspace, useTestService } from '../../support/service.ts';
import { storeDeliveries } from '../api/support/deliveries.ts';

// No worker: its steps are taken one by one.
const service = useTestService();

let workspace: TestWorkspace;
let endpoint: EndpointId;
beforeEach(async () => {
  workspace = await service.workspace();
  ({ id: endpoint } = await register(service, workspace, 'http://127.0.0.1:9/'));
});

const HOUR = 3_600;
const path = (more: string) => `/api/workspaces/${workspace.id}/webhooks/${endpoint}${more}`;
const health = async () => (await service.call(workspace.key, 'GET', path('/health'))).body.health;
const redeliver = (body: object) =>
  service.call(workspace.key, 'POST', path('/redeliver'), { ...body, status: 'missed' });
const number = async () => {
  for (let idle = 0; idle < 2; ) idle = (await numberEvents(service.db, FIRST)).events === 0 ? idle + 1 : 0;
};
/** Stores events for an endpoint that is behind, and lets them become so many seconds old. */
async function fallBehind(count: number, seconds: number): Promise<void> {
  await sql`INSERT INTO webhook_backlogs (endpoint_id, behind_from, instant) VALUES (${endpoint}, 0, '-infinity')
    ON CONFLICT DO NOTHING`.execute(service.db);
  await emitTogether(service, workspace, count);
  await number();
  const older = sql`- make_interval(secs => ${seconds})`;
  await sql`UPDATE event_log SET instant = instant ${older} WHERE workspace_id = ${workspace.id}`.execute(
    service.db,
  );
  await sql`UPDATE event_counters SET instant = instant ${older} WHERE workspace_id = ${workspace.id}`.execute(
    service.db,
  );
}
const open = async () => {
  const { rows } = await sql<{ event_id: string }>`
    SELECT event_id FROM webhook_open WHERE endpoint_id = ${endpoint} ORDER BY due_at, id`.execute(
    service.db,
  );
  return rows.map(({ event_id }) => event_id);
};
const events = async () => {
  const { rows } = await sql<{ event_id: string }>`
    SELECT event_id FROM event_log WHERE workspace_id = ${workspace.id} ORDER BY number`.execute(service.db);
  return rows.map(({ event_id }) => event_id);
};

// contract.md W106
it('the health of an endpoint that is behind shows since when, and how much of the log is left', async () => {
  await fallBehind(4, 0);
  await emitTogether(service, workspace, 3);
  expect((await health()).behind).toEqual({ since: expect.any(String), events: 4 });
  await number();
  expect((await health()).behind.events).toBe(7);
  await refill(service.db, endpoint, HOUR, BACKLOG_BOUNDS);
  // All is queued, and events queue their own deliveries again.
  expect(await health()).toMatchObject({ behind: null, missed: null, open: 7 });
});

// contract.md W102 and W104
it('what was missed is shown as a time, and redelivered within it, each event once and in order', async () => {
  await fallBehind(5, 3 * HOUR);
  await refill(service.db, endpoint, HOUR, BACKLOG_BOUNDS);
  const { missed } = await health();
  expect(Date.parse(missed.to)).toBeGreaterThan(Date.parse(missed.from));
  expect(Date.now() - Date.parse(missed.to)).toBeGreaterThan(2 * HOUR * 1_000);
  const range = { since: missed.from, until: missed.to };
  expect((await redeliver({ ...range, dryRun: true })).body).toEqual({ count: 5, nextCursor: null });
  expect((await redeliver({ ...range, dryRun: true, events: ['article.published'] })).body.count).toBe(0);
  expect((await redeliver({ since: missed.to, dryRun: true })).body.count).toBe(0);
  expect((await redeliver({ since: new Date(0), until: missed.from, dryRun: true })).body.count).toBe(0);
  expect(await open()).toEqual([]);
  // By a name it is not whole: it stays, and nothing is queued twice.
  expect((await redeliver({ ...range, events: ['article.created'] })).body.count).toBe(5);
  expect(await open()).toEqual(await events());
  expect((await health()).missed).toEqual(missed);
  expect((await redeliver(range)).body).toEqual({ count: 0, nextCursor: null });
  expect((await health()).missed).toBe(null);
  const audit = await service.db
    .selectFrom('audit_entries')
    .select('details')
    .where('action', '=', 'webhooks.redelivered')
    .where('workspace_id', '=', workspace.id)
    .orderBy('created_at')
    .execute();
  expect(audit.map(({ details }) => details)).toMatchObject([
    { status: 'missed', count: 5 },
    { status: 'missed', count: 0 },
  ]);
});

// contract.md W104
it('goes on by the cursor after 10,000', async () => {
  for (let count = 0; count < 11; count += 1) await emitTogether(service, workspace, 1);
  await sql`DELETE FROM webhook_open WHERE endpoint_id = ${endpoint}`.execute(service.db);
  await fallBehind(1, 0);
  await sql`
    WITH made AS MATERIALIZED (SELECT uuidv7() AS id FROM generate_series(1, 10500)), stored AS (
      INSERT INTO events (id, workspace_id, type, body, created_at, behind)
      SELECT id, ${workspace.id}, 'article.created', '{}', uuid_extract_timestamp(id), ARRAY[${endpoint}::uuid] FROM made)
    INSERT INTO event_queue (workspace_id, event_id, event_created_at)
    SELECT ${workspace.id}, id, uuid_extract_timestamp(id) FROM made ORDER BY id`.execute(service.db);
  await number();
  for (let step = 0; step < 3; step += 1) await refill(service.db, endpoint, 0, BACKLOG_BOUNDS);
  const since = new Date(0);
  const first = await redeliver({ since });
  expect(first.body).toEqual({ count: 10_000, nextCursor: expect.any(String) });
  // contract.md W105
  const refused = await redeliver({ since, cursor: first.body.nextCursor });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
  expect((await redeliver({ since, cursor: first.body.nextCursor, dryRun: true })).body.count).toBe(501);
  await sql`DELETE FROM webhook_open WHERE id IN (
    SELECT id FROM webhook_open WHERE endpoint_id = ${endpoint} ORDER BY id DESC LIMIT 1)`.execute(
    service.db,
  );
  expect((await redeliver({ since, cursor: first.body.nextCursor })).body).toEqual({
    count: 501,
    nextCursor: null,
  });
  expect(new Set(await open()).size).toBe(10_500);
}, 60_000);

// contract.md W105
it('what failed is redelivered only while fewer than 10,000 are open', async () => {
  await storeDeliveries(service.db, workspace, endpoint, { count: 2, state: 'failed', age: HOUR });
  await storeDeliveries(service.db, workspace, endpoint, {
    count: 10_000,
    state: 'pending',
    withEvents: false,
  });
  const body = { since: new Date(Date.now() - 2 * HOUR * 1_000) };
  expect((await service.call(workspace.key, 'POST', path('/redeliver'), body)).status).toBe(429);
  await sql`DELETE FROM webhook_open WHERE id = (
    SELECT id FROM webhook_open WHERE endpoint_id = ${endpoint} ORDER BY id LIMIT 1)`.execute(service.db);
  expect((await service.call(workspace.key, 'POST', path('/redeliver'), body)).body.count).toBe(2);
});

// contract.md W17 and W102
it('is forgotten with the part of the log it was in', async () => {
  await fallBehind(2, 50 * HOUR);
  await refill(service.db, endpoint, HOUR, BACKLOG_BOUNDS);
  await forgetMissed(service.db, 51 * HOUR);
  expect((await health()).missed).not.toBe(null);
  await forgetMissed(service.db, 49 * HOUR);
  expect((await health()).missed).toBe(null);
});

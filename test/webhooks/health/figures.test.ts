import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { type EndpointId, newId } from '../../../src/ids.ts';
import { bucketOf, p95Of } from '../../../src/webhooks/health/buckets.ts';
import { createFigures } from '../../../src/webhooks/health/figures.ts';
import { writeFigures } from '../../../src/webhooks/health/write.ts';
import { insertEndpoint } from '../../support/events.ts';
import { useTestService } from '../../support/service.ts';

const service = useTestService();

const START = Date.parse('2026-11-21T09:00:00Z');
const HOUR = 3_600_000;

/** One process: its clock is set by each attempt. */
function startProcess() {
  let clock = START;
  const figures = createFigures(() => clock);
  return {
    ends(endpointId: EndpointId, at: number, verdict: 'succeeded' | 'retry' | 'failed', number = 1) {
      clock = START + at;
      figures.attemptEnded({ endpointId, verdict, number, durationMs: 100 });
    },
    write: () => writeFigures(service.db, figures.take()),
  };
}

const stored = (id: EndpointId) =>
  service.db
    .selectFrom('webhook_health')
    .select(['last_success_at as success', 'failing_since as since', 'failed'])
    .where('endpoint_id', '=', id)
    .executeTakeFirst();
const at = (offset: number) => new Date(START + offset);

it('p95 is the longest of 95 in 100 attempts, at most a quarter too long', () => {
  expect(p95Of([])).toBeNull();
  for (const ms of [1, 2, 9, 87, 500, 2_345, 14_000]) {
    const p95 = p95Of([
      { bucket: bucketOf(ms), attempts: 95 },
      { bucket: bucketOf(15_000), attempts: 5 },
    ]);
    expect(p95).toBeGreaterThanOrEqual(ms);
    expect(p95).toBeLessThanOrEqual(Math.ceil(ms * 1.25));
  }
  expect(
    p95Of([
      { bucket: bucketOf(10), attempts: 94 },
      { bucket: bucketOf(5_000), attempts: 6 },
    ]),
  ).toBeGreaterThan(4_000);
  expect([bucketOf(0), bucketOf(60_000)]).toEqual([0, 43]);
});

// contract.md W69
it('processes that write in any order leave the latest success, and the failures after it', async () => {
  const workspace = await service.workspace();
  const id = await insertEndpoint(service.db, workspace.id, { events: ['article.created'] });
  const [one, two] = [startProcess(), startProcess()];
  one.ends(id, 1_000, 'failed');
  one.ends(id, 2_000, 'retry', 5);
  one.ends(id, 3_000, 'retry', 6);
  await one.write();
  expect(await stored(id)).toEqual({ success: null, since: at(1_000), failed: 2 });

  one.ends(id, 4_000, 'failed');
  two.ends(id, 3_500, 'succeeded');
  two.ends(id, 5_000, 'failed');
  await two.write();
  expect(await stored(id)).toEqual({ success: at(3_500), since: at(5_000), failed: 1 });
  await one.write();
  expect(await stored(id)).toEqual({ success: at(3_500), since: at(4_000), failed: 2 });

  // A late word of an older success, and of failures before the latest one, changes nothing.
  one.ends(id, 3_000, 'succeeded');
  one.ends(id, 3_100, 'failed');
  await one.write();
  expect(await stored(id)).toEqual({ success: at(3_500), since: at(4_000), failed: 2 });

  one.ends(id, 9_000, 'failed');
  two.ends(id, 8_000, 'succeeded');
  await one.write();
  await two.write();
  expect(await stored(id)).toEqual({ success: at(8_000), since: null, failed: 0 });
});

it('attempts are counted by hour; of deleted endpoints nothing is written, and the rest is', async () => {
  const workspace = await service.workspace();
  const insert = (deleted_at?: Date) =>
    insertEndpoint(service.db, workspace.id, {
      events: ['article.created'],
      ...(deleted_at && { deleted_at }),
    });
  const [living, deleted] = [await insert(), await insert(new Date())];
  const one = startProcess();
  for (const id of [living, deleted, newId<EndpointId>()]) {
    for (let n = 0; n < 30; n += 1) one.ends(id, n < 10 ? 0 : HOUR, n % 3 === 0 ? 'retry' : 'succeeded');
  }
  await one.write();
  one.ends(living, HOUR, 'succeeded');
  await one.write();
  await one.write();
  const { rows } = await sql`
    SELECT endpoint_id, hour, succeeded, attempts FROM webhook_hours
    WHERE endpoint_id IN (${living}, ${deleted}) ORDER BY hour, succeeded`.execute(service.db);
  const count = (hour: number, succeeded: boolean, attempts: number) => ({
    endpoint_id: living,
    hour: at(hour),
    succeeded,
    attempts,
  });
  expect(rows).toEqual([count(0, false, 4), count(0, true, 6), count(HOUR, false, 6), count(HOUR, true, 15)]);
  expect(await stored(deleted)).toBeUndefined();
});

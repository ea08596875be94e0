import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { rotatePartitions } from '../../../src/db/old-partitions.ts';
import { listPartitions } from '../../../src/db/partitions.ts';
import { pruneTranslations } from '../../../src/translations/prune.ts';
import { register } from '../../support/events.ts';
import { useTestService } from '../../support/service.ts';
import { translating } from '../../support/translating.ts';
import { storeDeliveries } from './support/deliveries.ts';

const service = useTestService();

const DAY = 86_400;
const retentionMs = 7 * DAY * 1_000;

const counts = async () => {
  const { rows } = await sql<{ events: number; deliveries: number; open: number }>`
    SELECT (SELECT count(*)::integer FROM events) AS events,
      (SELECT count(*)::integer FROM webhook_log) AS deliveries,
      (SELECT count(*)::integer FROM webhook_open) AS open`.execute(service.db);
  return rows[0];
};

/** Makes partitions of past days; the database has those since the day of its migrations. */
async function makeDays(days: readonly number[]): Promise<void> {
  const bound = (day: number) => new Date(day * DAY * 1_000).toISOString();
  for (const table of ['events', 'webhook_log'] as const) {
    const there = await listPartitions(service.db, table);
    for (const day of days.filter((each) => there.every(({ from }) => each * DAY * 1_000 < from))) {
      await sql`CREATE TABLE ${sql.id(`${table}_${day}`)} PARTITION OF ${sql.id(table)}
        FOR VALUES FROM (${sql.lit(bound(day))}) TO (${sql.lit(bound(day + 1))})`.execute(service.db);
    }
  }
}

const daysAgo = (days: number) => Math.floor(Date.now() / (DAY * 1_000)) - days;

it('prunes what ended before the retention, whole days and what lies beside them, and keeps what is open or in use', async () => {
  const workspace = await service.workspace(0);
  const { id } = await register(service, workspace, 'http://127.0.0.1:9/hooks');
  const store = (count: number, state: 'failed' | 'succeeded' | 'waiting' | 'pending', days: number) =>
    storeDeliveries(service.db, workspace, id, { count, state, age: days * DAY });
  await makeDays(Array.from({ length: 20 }, (_, index) => daysAgo(index + 1)));
  await store(1_800, 'succeeded', 30);
  await store(300, 'succeeded', 15);
  await store(400, 'failed', 9);
  await store(20, 'failed', 6);
  await store(7, 'waiting', 30);
  await store(5, 'pending', 15);
  // Old events that are redelivered today: only their old deliveries go.
  const redeliver = (path: string, body?: unknown) =>
    service.call(workspace.key, 'POST', `/api/workspaces/${workspace.id}/webhooks/${path}`, body);
  const redelivered = await redeliver(`${id}/redeliver`, {
    since: new Date(Date.now() - 9.5 * DAY * 1_000).toISOString(),
  });
  expect(redelivered.body.count).toBe(420);
  const [old] = await service.db
    .selectFrom('webhook_log')
    .select('id')
    .orderBy('created_at')
    .limit(1)
    .execute();

  let steps = 0;
  const pruned = await rotatePartitions(service.db, {
    retentionMs,
    onProgress: () => {
      steps += 1;
    },
  });
  // The events of the fifteenth day stay together while one of them is waited for.
  expect(pruned).toEqual({ events: 1_800, deliveries: 1_800 + 300 + 400 });
  expect(steps).toBeGreaterThan(20);
  expect(await counts()).toEqual({ events: 305 + 400 + 20 + 7, deliveries: 20, open: 420 + 7 + 5 });
  expect((await redeliver(`deliveries/${old?.id}/redeliver`)).status).toBe(404);
  expect(await rotatePartitions(service.db, { retentionMs })).toEqual({ events: 0, deliveries: 0 });
  await sql`DELETE FROM webhook_open`.execute(service.db);
  expect(await rotatePartitions(service.db, { retentionMs })).toEqual({
    events: 305 + 400 + 7,
    deliveries: 0,
  });
});

it('either redelivers what it is pruning at that moment or knows nothing of it', async () => {
  const workspace = await service.workspace(0);
  const { id } = await register(service, workspace, 'http://127.0.0.1:9/hooks');
  const outcomes = new Map<number, number>();
  for (let round = 0; round < 12; round += 1) {
    // Beside all partitions, and in one of its own.
    const age = round % 2 === 0 ? 40 * DAY : (21 + round) * DAY;
    if (round % 2 === 1) await makeDays([daysAgo(21 + round)]);
    await storeDeliveries(service.db, workspace, id, { count: 1, state: 'failed', age });
    const [stored] = await service.db
      .selectFrom('webhook_log')
      .select('id')
      .where('endpoint_id', '=', id)
      .execute();
    const pruning = sleep(10).then(() => rotatePartitions(service.db, { retentionMs }));
    await sleep(Math.random() * 250);
    const path = `/api/workspaces/${workspace.id}/webhooks/deliveries/${stored?.id}/redeliver`;
    const { status } = await service.call(workspace.key, 'POST', path);
    await pruning;
    outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
    const { rows } = await sql<{ open: number; events: number }>`
      SELECT count(*)::integer AS open, count(event.id)::integer AS events FROM webhook_open AS delivery
      LEFT JOIN events AS event ON event.id = event_id AND event.created_at = event_created_at
      WHERE endpoint_id = ${id}`.execute(service.db);
    expect(rows[0]).toEqual(status === 202 ? { open: 1, events: 1 } : { open: 0, events: 0 });
    await sql`DELETE FROM webhook_open`.execute(service.db);
    await rotatePartitions(service.db, { retentionMs });
  }
  expect([...outcomes.keys()].every((status) => status === 202 || status === 404)).toBe(true);
});

it('prunes snapshots and segments of jobs that ended before the retention, never of open ones', async () => {
  const { translate, cancel } = translating(service);
  const workspace = await service.workspace();
  const jobs = [];
  for (const state of ['old', 'recent', 'open']) {
    const { job } = await translate(workspace, 20);
    await sql`UPDATE translations SET batch_count = 1 WHERE job_id = ${job.id}`.execute(service.db);
    if (state !== 'open') expect((await cancel(workspace, job.id)).status).toBe(202);
    if (state === 'old') {
      await sql`UPDATE jobs SET ended_at = now() - interval '8 days' WHERE id = ${job.id}`.execute(
        service.db,
      );
    }
    await sql`INSERT INTO translation_segments
        (job_id, key, batch, source_hash, source_text, words, kind, position, text_key, made_by)
      VALUES (${job.id}, 'title', 0, 'hash', 'A garden', 2, 'title', 0, 'key', 'pseudo'),
        (${job.id}, 'p1', 0, 'hash', 'Water', 1, 'paragraph', 1, 'key', 'pseudo')`.execute(service.db);
    jobs.push(job.id);
  }
  expect(await pruneTranslations(service.db, { retentionMs })).toEqual({ jobs: 1, segments: 2 });
  const { rows } = await sql<{ job_id: string; kept: boolean; segments: number }>`
    SELECT job_id, snapshot IS NOT NULL AS kept,
      (SELECT count(*)::integer FROM translation_segments s WHERE s.job_id = t.job_id) AS segments
    FROM translations t`.execute(service.db);
  expect(new Map(rows.map(({ job_id, kept, segments }) => [job_id, { kept, segments }]))).toEqual(
    new Map(
      jobs.map((id, index) => [id, index === 0 ? { kept: false, segments: 0 } : { kept: true, segments: 2 }]),
    ),
  );
  expect(await pruneTranslations(service.db, { retentionMs })).toEqual({ jobs: 0, segments: 0 });
});

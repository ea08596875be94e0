import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { pruneTranslations } from '../../../src/translations/prune.ts';
import { pruneWebhooks } from '../../../src/webhooks/prune.ts';
import { emit, register } from '../../support/events.ts';
import { useTestService } from '../../support/service.ts';
import { translating } from '../../support/translating.ts';
import { storeDeliveries } from './support/deliveries.ts';

const service = useTestService();

const DAY = 86_400;
const retentionMs = 7 * DAY * 1_000;

const counts = async () => {
  const { rows } = await sql<{ events: number; deliveries: number; attempts: number }>`
    SELECT (SELECT count(*)::integer FROM events) AS events,
      (SELECT count(*)::integer FROM webhook_deliveries) AS deliveries,
      (SELECT count(*)::integer FROM webhook_attempts) AS attempts`.execute(service.db);
  return rows[0];
};

it('prunes what ended before the retention, in batches, and keeps what is open, recent or in use', async () => {
  const workspace = await service.workspace(0);
  const { id } = await register(service, workspace, 'http://127.0.0.1:9/hooks');
  const store = (count: number, state: 'failed' | 'succeeded' | 'waiting' | 'pending', days: number) =>
    storeDeliveries(service.db, workspace, id, { count, state, age: days * DAY });
  await store(1_800, 'succeeded', 30);
  await store(400, 'failed', 8);
  await store(20, 'failed', 6);
  await store(7, 'waiting', 30);
  await store(5, 'pending', 30);
  // Old events that nobody subscribed to.
  await sql`INSERT INTO events (id, workspace_id, type, body, created_at)
    SELECT gen_random_uuid(), ${workspace.id}, 'article.approved', '{}', now() - interval '30 days'
    FROM generate_series(1, 3)`.execute(service.db);
  // An old event that was redelivered today: only its old delivery goes.
  const redelivered = await service.call(
    workspace.key,
    'POST',
    `/api/workspaces/${workspace.id}/webhooks/${id}/redeliver`,
    { since: new Date(Date.now() - 8.5 * DAY * 1_000).toISOString() },
  );
  expect(redelivered.body.count).toBe(420);

  const kept = { events: 400 + 20 + 7 + 5, deliveries: 420 + 20 + 7 + 5, attempts: 20 + 7 };
  let batches = 0;
  const pruned = await pruneWebhooks(service.db, {
    retentionMs,
    onProgress: () => {
      batches += 1;
    },
  });
  expect(pruned).toEqual({ events: 1_800 + 3, deliveries: 1_800 + 400 });
  expect(batches).toBeGreaterThan(2);
  expect(await counts()).toEqual(kept);
  expect(await pruneWebhooks(service.db, { retentionMs })).toEqual({ events: 0, deliveries: 0 });
});

it('leaves a delivery that somebody redelivers at the same moment, with its event', async () => {
  const workspace = await service.workspace(0);
  const { id } = await register(service, workspace, 'http://127.0.0.1:9/hooks');
  await storeDeliveries(service.db, workspace, id, { count: 1, state: 'failed', age: 30 * DAY });
  const before = await counts();
  await service.db.transaction().execute(async (tx) => {
    await sql`SELECT FROM webhook_deliveries WHERE endpoint_id = ${id} FOR KEY SHARE`.execute(tx);
    expect(await pruneWebhooks(service.db, { retentionMs })).toEqual({ events: 0, deliveries: 0 });
  });
  expect(await counts()).toEqual(before);
  expect(await pruneWebhooks(service.db, { retentionMs })).toEqual({ events: 1, deliveries: 1 });
  await emit(service, workspace);
});

it('prunes snapshots and segments of jobs that ended before the retention, never of open ones', async () => {
  const { translate, cancel } = translating(service);
  const workspace = await service.workspace();
  const jobs = [];
  for (const state of ['old', 'recent', 'open']) {
    const { job } = await translate(workspace, 20);
    if (state !== 'open') expect((await cancel(workspace, job.id)).status).toBe(202);
    if (state === 'old') {
      await sql`UPDATE jobs SET ended_at = now() - interval '8 days' WHERE id = ${job.id}`.execute(
        service.db,
      );
    }
    await sql`INSERT INTO translation_segments (job_id, key, batch, source_hash, source_text)
      VALUES (${job.id}, 'title', 0, 'hash', 'A garden'), (${job.id}, 'p1', 0, 'hash', 'Water')`.execute(
      service.db,
    );
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

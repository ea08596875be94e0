import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import { PAGE, type RowPlace, walkRows } from '../../src/reconcile/rows.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { RECONCILED, type Reconciled, taskQueues } from '../../src/temporal/task-queues.ts';
import { scrape } from '../metrics/support/exposition.ts';
import { WITH_SCHEDULES } from '../support/service.ts';
import { reconcileNow } from '../support/temporal.ts';
import { hang, useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, provider, operator, workspace, calls } = useTranslations({ hasSchedules: true });
const prefix = () => service.config.TEMPORAL_TASK_QUEUE_PREFIX;
/** What Temporal says of a part's rounds. */
const rounds = async (part: Reconciled) =>
  (await operator.client.schedule.getHandle(taskQueues(prefix()).reconcileSchedules[part]).describe()).info;
const running = async (part: Reconciled) =>
  (await rounds(part)).runningActions.map(({ workflow }) => workflow.workflowId);

/** Rows that differ in their time alone. */
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`,
    created_at: new Date(index),
  }));

it('a step goes on where the one before it stopped, some rows at a time, and one that fails stops no other', async () => {
  const rows = rowsOf(2 * PAGE + 30);
  const read = async (place: RowPlace) =>
    rows
      .filter(({ id, created_at }) => created_at >= new Date(place.createdAt) && id > place.id)
      .slice(0, PAGE);
  const seen: string[] = [];
  const failed: string[] = [];
  const reached: (RowPlace | null)[] = [];
  let [now, most] = [0, 0];
  const handle = async ({ id }: { id: string }) => {
    now += 1;
    most = Math.max(most, now);
    await sleep(1);
    now -= 1;
    seen.push(id);
    if (id.startsWith('00000007')) throw new Error('not this one');
  };
  const step = (from: RowPlace | null) =>
    walkRows(
      { from, until: 0, onPlace: (place) => reached.push(place) },
      (id) => failed.push(id),
      read,
      handle,
    );
  const first = await step(null);
  expect(first).toEqual({ createdAt: new Date(PAGE - 1).toISOString(), id: rows[PAGE - 1]?.id });
  expect(reached.at(-1)).toEqual(first);
  const second = await step(first);
  expect(await step(second)).toBeNull();
  expect(seen.toSorted()).toEqual(rows.map(({ id }) => id));
  expect(failed).toEqual([rows[7]?.id]);
  expect(most).toBe(10);
});

it('30,000 open jobs hold up neither holds nor deliveries nor what is deleted', async () => {
  provider.behave = hang;
  const { job } = await calls.translate(workspace, 100);
  const runId = translationWorkflowId(job.id as JobId);
  await eventually(
    () => calls.readJob(workspace, job.id),
    ({ status }) => status === 'TRANSLATING',
  );
  // Of other customers; that they share a run does not matter to who asks for it.
  const crowd = await service.workspace(0);
  const projectId = await service.project(crowd);
  await sql`WITH versions AS (
      INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language, translation_group_id)
      SELECT gen_random_uuid(), ${crowd.id}, ${projectId}, 'A', 'a-' || number, 'DRAFT', '{"version":1,"blocks":[]}', 'en',
        gen_random_uuid() FROM generate_series(1, 30000) AS number
      RETURNING id)
    INSERT INTO jobs (id, workspace_id, project_id, article_id, kind, purpose, status, idempotency_key, estimated_credits,
      reserved_credits, workflow_id, created_at)
    SELECT gen_random_uuid(), ${crowd.id}, ${projectId}, id, 'translation', 'refresh', 'TRANSLATING', 'job-' || id, 0, 0,
      ${runId}, now() - make_interval(secs => 3600 + row_number() OVER ()) FROM versions`.execute(service.db);
  await reconcileNow(operator.client, prefix(), 'jobs');
  const [round = ''] = await eventually(
    () => running('jobs'),
    (ids) => ids.length > 0,
    90_000,
  );

  const other = await service.workspace(5);
  await sql`WITH held AS (
      INSERT INTO holds (id, workspace_id, purpose, run_id, amount)
      VALUES (gen_random_uuid(), ${other.id}, 'ai_operation', gen_random_uuid(), 2))
    UPDATE wallets SET reserved = 2 WHERE workspace_id = ${other.id}`.execute(service.db);
  const gone = await service.workspace(0);
  await sql`UPDATE workspaces SET deleted_at = now() - interval '8 days' WHERE id = ${gone.id}`.execute(
    service.db,
  );
  const { numActionsTaken } = await rounds('deliveries');
  await Promise.all(
    (['holds', 'deleted', 'deliveries'] as const).map((part) =>
      reconcileNow(operator.client, prefix(), part),
    ),
  );
  await eventually(
    () => calls.readWallet(other),
    ({ reserved }) => reserved === 0,
  );
  await eventually(
    async () => (await sql`SELECT FROM workspaces WHERE id = ${gone.id}`.execute(service.db)).rows.length,
    (rows) => rows === 0,
  );
  await eventually(
    () => rounds('deliveries'),
    (now) => now.numActionsTaken > numActionsTaken && now.runningActions.length === 0,
  );
  expect((await operator.client.workflow.getHandle(round).describe()).status.name).toBe('RUNNING');

  await sql`UPDATE jobs SET status = 'CANCELLED', ended_at = now() WHERE workspace_id = ${crowd.id}`.execute(
    service.db,
  );
  expect(await operator.closed(round)).toBe('COMPLETED');
});

it('says of each round when it last came to its end', async () => {
  const parts = ['jobs', 'operations', 'holds', 'deliveries', 'endpoints', 'workspaces'];
  const name = 'reconcile_last_success_timestamp_seconds';
  await service.stopWorkers();
  const alone = await service.startWorker({ provider, ...WITH_SCHEDULES });
  // One that runs already may be at its end, and while it runs no other begins.
  await eventually(
    () => Promise.all(RECONCILED.map(running)),
    (ids) => ids.flat().length === 0,
  );
  await reconcileNow(operator.client, prefix());
  await eventually(
    async () => {
      const now = await scrape(alone.metricsUrl);
      return parts.map((round) => now.value(name, { round }) ?? 0);
    },
    (times) => times.every((time) => Math.abs(time - Date.now() / 1_000) < 60),
    60_000,
  );
});

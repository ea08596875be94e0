import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { pruneAuditEntries } from '../../src/audit/prune.ts';
import { advancePruneClock } from '../../src/db/prune-clock.ts';
import { type TestWorkspace, useTestService, WITH_SCHEDULES } from '../support/service.ts';
import { connectOperator } from '../support/temporal.ts';
import { eventually } from '../support/wait.ts';

const service = useTestService();
const DAY_MS = 86_400_000;

/** Adds entries of this age. */
const entries = (workspace: TestWorkspace, count: number, days: number) =>
  sql`INSERT INTO audit_entries (id, workspace_id, actor_kind, action, target_type, created_at)
    SELECT uuidv7(), ${workspace.id}, 'system', ${`aged.${days}`}, 'thing', now() - make_interval(days => ${days})
    FROM generate_series(1, ${count}::integer)`.execute(service.db);
const kept = async (workspace: TestWorkspace) => {
  const { rows } = await sql<{ action: string; count: number }>`
    SELECT action, count(*)::integer AS count FROM audit_entries
    WHERE workspace_id = ${workspace.id} AND action LIKE 'aged.%' GROUP BY action ORDER BY action`.execute(
    service.db,
  );
  return rows.map(({ action, count }) => `${action} ${count}`);
};
/** Sets the clock of the database that much ahead of what the last run of prune believed. */
const jump = (days: number) =>
  sql`INSERT INTO prune_clock (believed, run_id) VALUES (now() - make_interval(days => ${days}), 'last night')
    ON CONFLICT (singleton) DO UPDATE SET believed = excluded.believed, run_id = excluded.run_id`.execute(
    service.db,
  );

// contract.md A22
it('audit entries go in batches once they are older than their retention', async () => {
  const workspace = await service.workspace(0);
  await entries(workspace, 6_000, 401);
  await entries(workspace, 10, 399);
  let batches = 0;
  const removed = await pruneAuditEntries(service.db, {
    retentionMs: 400 * DAY_MS,
    onProgress: () => {
      batches += 1;
    },
  });
  expect([removed, batches]).toEqual([6_000, 2]);
  expect(await kept(workspace)).toEqual(['aged.399 10']);
});

it('a clock that jumps ahead is believed three days a run, however often the run asks', async () => {
  await jump(100);
  const days = async (run: string) => Math.round((await advancePruneClock(service.db, run)) / DAY_MS);
  expect([await days('a'), await days('a'), await days('b'), await days('a')]).toEqual([97, 97, 94, 91]);
  await jump(-50);
  // A clock that was set back is believed at once.
  expect([await days('c'), await days('d')]).toEqual([0, 0]);
  await jump(1);
  expect(await days('e')).toBe(0);
});

it('after a jump of a hundred days a night removes what three days make old, and nothing else', async () => {
  const workspace = await service.workspace(0);
  await entries(workspace, 3, 498);
  await entries(workspace, 3, 450);
  await jump(100);
  await service.startWorker(WITH_SCHEDULES);
  const operator = await connectOperator();
  const id = `${service.config.TEMPORAL_TASK_QUEUE_PREFIX}prune`;
  const night = async () => {
    const schedule = operator.client.schedule.getHandle(id);
    await eventually(
      () =>
        schedule.trigger().then(
          () => true,
          () => false,
        ),
      Boolean,
    );
    const { info } = await eventually(
      () => schedule.describe(),
      ({ info }) => info.numActionsTaken > nights,
    );
    nights += 1;
    const action = info.recentActions.at(-1)?.action;
    if (action?.type !== 'startWorkflow') throw new Error('no run was started');
    expect(await operator.closed(action.workflow.workflowId)).toBe('COMPLETED');
  };
  let nights = 0;
  await night();
  expect(await kept(workspace)).toEqual(['aged.450 3']);
  await jump(0);
  await night();
  expect(await kept(workspace)).toEqual([]);
  await operator.close();
});

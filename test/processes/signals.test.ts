import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { bareEnvironment, startProcess } from '../support/processes.ts';
import { useTestService } from '../support/service.ts';
import { connectOperator, type Operator } from '../support/temporal.ts';
import { eventually } from '../support/wait.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const service = useTestService();

/** Runs an entry point until it says `line`, sends SIGTERM then, and returns its status and what it wrote. */
async function run(file: string, env: Record<string, string>, line?: RegExp) {
  const child = spawn(process.execPath, [file], {
    cwd: root,
    env: { ...bareEnvironment(), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  let told = false;
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
    if (told || line === undefined || !line.test(log)) return;
    told = true;
    child.kill('SIGTERM');
  });
  const [code] = await once(child, 'exit');
  return { code, log };
}

const TABLES = ['events_default', 'webhook_bursts'] as const;

it('a worker whose prune and reconcile-deliveries take long stops in the middle of both with status 0, and another one ends the work', async () => {
  const operator = await connectOperator();
  onTestFinished(() => operator.close());
  const workspace = await service.workspace(0);
  // Far more than can be done before the deadline of a stop, as each statement takes three seconds.
  await sql`INSERT INTO webhook_bursts (id, started_at)
    SELECT gen_random_uuid(), now() - interval '2 minutes' FROM generate_series(1, 400)`.execute(service.db);
  await sql`INSERT INTO events (id, workspace_id, type, body, created_at)
    SELECT gen_random_uuid(), ${workspace.id}, 'article.approved', '{}', now() - interval '40 days'
    FROM generate_series(1, 25000)`.execute(service.db);
  await sql`CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3); RETURN NULL; END'`.execute(
    service.db,
  );
  for (const table of TABLES) {
    await sql`CREATE TRIGGER slowly BEFORE DELETE ON ${sql.table(table)}
      FOR EACH STATEMENT EXECUTE FUNCTION slowly()`.execute(service.db);
  }
  const worker = await startProcess('worker.ts', service.env);
  const runs = await Promise.all([
    untilInTheMiddle(operator, 'prune', 'pruneWebhooks'),
    untilInTheMiddle(operator, 'reconcile-deliveries', 'reconcileDeliveries'),
  ]);
  worker.kill('SIGTERM');
  expect(await worker.ended, worker.log()).toBe(0);
  const status = async (run: string) =>
    (await operator.client.workflow.getHandle(run).describe()).status.name;
  expect(await Promise.all(runs.map(status))).toEqual(['RUNNING', 'RUNNING']);

  for (const table of TABLES) await sql`DROP TRIGGER slowly ON ${sql.table(table)}`.execute(service.db);
  await Promise.all(runs.map(operator.hurry));
  const other = await startProcess('worker.ts', service.env);
  await Promise.all(runs.map((run) => operator.client.workflow.getHandle(run).result()));
  other.kill('SIGTERM');
  expect(await other.ended).toBe(0);
}, 300_000);

/** Triggers a schedule; answers its run once the activity has told how far it is. */
async function untilInTheMiddle(operator: Operator, schedule: string, activity: string): Promise<string> {
  const handle = operator.client.schedule.getHandle(
    `${service.config.TEMPORAL_TASK_QUEUE_PREFIX}${schedule}`,
  );
  await eventually(
    () =>
      handle.trigger(ScheduleOverlapPolicy.SKIP).then(
        () => true,
        () => false,
      ),
    (triggered) => triggered,
  );
  const run = await eventually(
    async () => (await handle.describe()).info.runningActions[0]?.workflow.workflowId ?? '',
    (workflowId) => workflowId !== '',
    90_000,
  );
  await eventually(
    async () => (await operator.client.workflow.getHandle(run).describe()).raw.pendingActivities?.[0],
    (found) => found?.activityType?.name === activity && found.lastHeartbeatTime != null,
    90_000,
  );
  return run;
}

it('a worker that still waits for Temporal stops on SIGTERM as well', async () => {
  const env = { ...service.env, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  expect((await run('worker.ts', env, /waiting for Temporal/)).code).toBe(0);
});

it('a bad environment stops the start with status 1 and the name of each variable, not its value', async () => {
  const { code, log } = await run('server.ts', {
    ...service.env,
    PORT: 'many',
    DATABASE_URL: 'secret-looking-nonsense',
    WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/99',
  });
  expect(code).toBe(1);
  expect(log).toMatch(/DATABASE_URL:/);
  expect(log).toMatch(/PORT:/);
  expect(log).toMatch(/WEBHOOK_ALLOWED_NETWORKS:/);
  expect(log).not.toContain('secret-looking-nonsense');
});

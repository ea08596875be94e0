import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { bareEnvironment, startProcess } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { connectOperator } from '../support/temporal.ts';
import { eventually } from '../support/wait.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

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

it('server and worker stop in order on SIGTERM and end with status 0', async () => {
  for (const file of ['server.ts', 'worker.ts'] as const) {
    const running = await startProcess(file, { ...service.env, PORT: '0' });
    running.kill('SIGTERM');
    expect(await running.ended).toBe(0);
  }
});

it.each([
  ['prune', 'events_default'],
  ['reconcile-deliveries', 'webhook_bursts'],
] as const)(
  'a worker whose %s takes long stops in the middle with status 0, and another one ends the work',
  async (name, table) => {
    const own = await startTestService();
    onTestFinished(() => own.stop());
    const operator = await connectOperator();
    onTestFinished(() => operator.close());
    const workspace = await own.workspace(0);
    // Far more than can be done before the deadline of a stop, as each statement takes a second.
    await sql`INSERT INTO webhook_bursts (id, started_at)
    SELECT gen_random_uuid(), now() - interval '2 minutes' FROM generate_series(1, 1000)`.execute(own.db);
    await sql`INSERT INTO events (id, workspace_id, type, body, created_at)
    SELECT gen_random_uuid(), ${workspace.id}, 'article.approved', '{}', now() - interval '40 days'
    FROM generate_series(1, 60000)`.execute(own.db);
    await sql`CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END'`.execute(
      own.db,
    );
    await sql`CREATE TRIGGER slowly BEFORE DELETE ON ${sql.table(table)}
    FOR EACH STATEMENT EXECUTE FUNCTION slowly()`.execute(own.db);
    const worker = await startProcess('worker.ts', own.env);
    const { schedule } = operator.client;
    const runs = schedule.getHandle(`${own.config.TEMPORAL_TASK_QUEUE_PREFIX}${name}`);
    await eventually(
      () =>
        runs.trigger(ScheduleOverlapPolicy.SKIP).then(
          () => true,
          () => false,
        ),
      (triggered) => triggered,
    );
    const run = await eventually(
      async () => (await runs.describe()).info.runningActions[0]?.workflow.workflowId ?? '',
      (workflowId) => workflowId !== '',
      90_000,
    );
    const activity = name === 'prune' ? 'pruneWebhooks' : 'reconcileDeliveries';
    const pending = () =>
      operator.client.workflow
        .getHandle(run)
        .describe()
        .then(({ raw }) => raw.pendingActivities?.[0]);
    await eventually(
      pending,
      (found) => found?.activityType?.name === activity && found.lastHeartbeatTime != null,
      90_000,
    );
    worker.kill('SIGTERM');
    expect(await worker.ended, worker.log()).toBe(0);
    expect((await operator.client.workflow.getHandle(run).describe()).status.name).toBe('RUNNING');

    await sql`DROP TRIGGER slowly ON ${sql.table(table)}`.execute(own.db);
    await operator.hurry(run);
    const other = await startProcess('worker.ts', own.env);
    expect(await operator.closed(run, 90_000)).toBe('COMPLETED');
    other.kill('SIGTERM');
    expect(await other.ended).toBe(0);
  },
  300_000,
);

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

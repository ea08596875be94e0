import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { JobId } from '../../src/ids.ts';
import { jobAreas } from '../../src/processes/job-areas.ts';
import { taskQueues } from '../../src/temporal/task-queues.ts';
import type { TemporalClient } from '../../src/temporal/workflow-client.ts';
import {
  madeLater,
  type TestService,
  type TestWorkspace,
  useTestService,
  WITH_SCHEDULES,
} from './service.ts';
import { connectOperator, type Operator, reconcileNow } from './temporal.ts';
import { eventually } from './wait.ts';

export interface JobOptions {
  /** Of each test's workspace; 10. */
  readonly credits?: number;
  readonly env?: Record<string, string>;
  /** Whether the worker has its schedules, and rounds of reconcile run beside the tests. */
  readonly hasSchedules?: boolean;
}

/**
 * The service with a worker on stand-ins, an operator, and a fresh workspace for each test.
 * @param fresh called before each test with its workspace
 */
export function useJobs(
  standIns: Parameters<TestService['startWorker']>[0],
  { credits = 10, env = {}, hasSchedules = false }: JobOptions,
  fresh: (workspace: TestWorkspace) => Promise<void>,
) {
  const service = useTestService(env);
  const operator = madeLater<Operator>('operator');
  const workspace = madeLater<TestWorkspace>('workspace');
  let connected: Operator | undefined;
  beforeAll(async () => {
    connected = await connectOperator();
    operator.set(connected);
    await service.startWorker({ ...standIns, ...(hasSchedules ? WITH_SCHEDULES : {}) });
  });
  afterAll(() => connected?.close());
  beforeEach(async () => {
    const made = await service.workspace(credits);
    await fresh(made);
    workspace.set(made);
  });
  /** Lets the rounds begin now that look for lost runs (`hasSchedules`). */
  const reconcile = () => reconcileNow(operator.it.client, service.config.TEMPORAL_TASK_QUEUE_PREFIX);
  return { service, operator: operator.it, workspace: workspace.it, reconcile };
}

/** Starts the run of a queued job although its turn has not come: two jobs that begin at once may find one turn. */
export async function startBeforeItsTurn(
  { db, config }: Pick<TestService, 'db' | 'config'>,
  client: TemporalClient,
  jobId: string,
): Promise<void> {
  const job = await db
    .selectFrom('jobs')
    .select(['id', 'workspace_id', 'article_id', 'purpose', 'workflow_id', 'request_id', 'traceparent'])
    .where('id', '=', jobId as JobId)
    .executeTakeFirstOrThrow();
  const names = taskQueues(config.TEMPORAL_TASK_QUEUE_PREFIX);
  await jobAreas[job.purpose]?.start({ db, client, names }, job);
}

/** Those of the jobs that have not ended, by one statement: a request for each costs a busy machine more than the runs. */
export async function openJobs(
  db: Database,
  ids: readonly string[],
): Promise<{ id: JobId; status: string; progress: number }[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('jobs')
    .select(['id', 'status', 'progress'])
    .where('id', 'in', ids as JobId[])
    .where('ended_at', 'is', null)
    .execute();
}

export const untilEnded = (db: Database, ids: readonly string[], timeoutMs = 100_000) =>
  eventually(
    () => openJobs(db, ids),
    ({ length }) => length === 0,
    timeoutMs,
  );

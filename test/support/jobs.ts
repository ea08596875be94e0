import { afterAll, beforeAll, beforeEach } from 'vitest';
import { madeLater, type TestService, type TestWorkspace, useTestService } from './service.ts';
import { connectOperator, type Operator } from './temporal.ts';

export interface JobOptions {
  /** Of each test's workspace; 10. */
  readonly credits?: number;
  readonly env?: Record<string, string>;
}

/**
 * The service with a worker on stand-ins, an operator, and a fresh workspace for each test.
 * @param fresh called before each test with its workspace
 */
export function useJobs(
  standIns: Parameters<TestService['startWorker']>[0],
  { credits = 10, env = {} }: JobOptions,
  fresh: (workspace: TestWorkspace) => Promise<void>,
) {
  const service = useTestService(env);
  const operator = madeLater<Operator>('operator');
  const workspace = madeLater<TestWorkspace>('workspace');
  let connected: Operator | undefined;
  beforeAll(async () => {
    connected = await connectOperator();
    operator.set(connected);
    await service.startWorker(standIns);
  });
  afterAll(() => connected?.close());
  beforeEach(async () => {
    const made = await service.workspace(credits);
    await fresh(made);
    workspace.set(made);
  });
  /** Lets the round begin now that looks for lost runs. */
  const reconcile = () =>
    operator.it.client.schedule.getHandle(`${service.config.TEMPORAL_TASK_QUEUE_PREFIX}reconcile`).trigger();
  return { service, operator: operator.it, workspace: workspace.it, reconcile };
}

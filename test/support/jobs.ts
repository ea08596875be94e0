import { afterAll, beforeAll, beforeEach } from 'vitest';
import { madeLater, type TestService, type TestWorkspace, useTestService } from './service.ts';
import { connectOperator, type Operator, reconcileNow } from './temporal.ts';

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
  /** Lets the rounds begin now that look for lost runs. */
  const reconcile = () => reconcileNow(operator.it.client, service.config.TEMPORAL_TASK_QUEUE_PREFIX);
  return { service, operator: operator.it, workspace: workspace.it, reconcile };
}

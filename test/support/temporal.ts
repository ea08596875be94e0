import { Client, Connection, ScheduleNotFoundError } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { inject } from 'vitest';
import { RECONCILED, type Reconciled, taskQueues } from '../../src/temporal/task-queues.ts';
import { eventually } from './wait.ts';

export interface Operator {
  readonly client: Client;
  /** The activity that waits for a retry or runs in a run, as the Temporal UI shows it. */
  pendingActivity(
    workflowId: string,
  ): Promise<{ id: string; attempt: number; isWaiting: boolean } | undefined>;
  /** Makes a waiting retry come after a second instead of its own wait. */
  hurry(workflowId: string): Promise<void>;
  /** Resets the run's activity: attempts begin at 1 again, now. */
  reset(workflowId: string): Promise<void>;
  /** Waits until a run has begun to sleep. */
  untilAsleep(workflowId: string): Promise<void>;
  /** The status of a run once it has closed. */
  closed(workflowId: string, timeoutMs?: number): Promise<string>;
  /** All that Temporal keeps of a run, its payloads as readable text. */
  kept(workflowId: string): Promise<string>;
  close(): Promise<void>;
}

/** Lets rounds of reconcile begin now: all of them, or one. Fails where a worker has not made the schedule yet. */
export async function reconcileNow(client: Client, prefix: string, only?: Reconciled): Promise<void> {
  const { reconcileSchedules } = taskQueues(prefix);
  const parts = only === undefined ? RECONCILED : [only];
  await Promise.all(parts.map((part) => client.schedule.getHandle(reconcileSchedules[part]).trigger()));
}

/** Removes the schedules of a service that is gone: they would start runs until the end of all tests. */
export async function removeSchedules(prefix: string): Promise<void> {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  const { schedule } = new Client({ connection });
  const { reconcileSchedules, pruneSchedule } = taskQueues(prefix);
  const remove = (id: string) => schedule.getHandle(id).delete().catch(notFoundIsFine);
  await Promise.all([...Object.values(reconcileSchedules), pruneSchedule].map(remove));
  await connection.close();
}

function notFoundIsFine(error: unknown): void {
  if (!(error instanceof ScheduleNotFoundError)) throw error;
}

/**
 * What an operator does in the Temporal UI or with its command line.
 * @param address host:port of the server; that of the whole run
 */
export async function connectOperator(address = inject('temporalAddress')): Promise<Operator> {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const describe = (workflowId: string) => client.workflow.getHandle(workflowId).describe();
  const operator: Operator = {
    client,
    async pendingActivity(workflowId) {
      const [activity] = (await describe(workflowId)).raw.pendingActivities ?? [];
      if (activity === undefined) return undefined;
      const { activityId, attempt, nextAttemptScheduleTime } = activity;
      return { id: activityId ?? '', attempt: attempt ?? 0, isWaiting: nextAttemptScheduleTime != null };
    },
    async hurry(workflowId) {
      const activity = await eventually(
        () => operator.pendingActivity(workflowId),
        (pending) => pending !== undefined,
      );
      await client.workflowService.updateActivityOptions({
        namespace: 'default',
        execution: { workflowId },
        id: activity?.id ?? '',
        activityOptions: {
          retryPolicy: { initialInterval: msToTs(1_000), maximumInterval: msToTs(1_000) },
        },
        updateMask: { paths: ['retry_policy.initial_interval', 'retry_policy.maximum_interval'] },
      });
    },
    async kept(workflowId) {
      const run = client.workflow.getHandle(workflowId);
      const parts = [(await run.describe()).raw, await run.fetchHistory()];
      return JSON.stringify(parts, (key, value) =>
        key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value,
      );
    },
    async reset(workflowId) {
      const activity = await operator.pendingActivity(workflowId);
      await client.workflowService.resetActivity({
        namespace: 'default',
        execution: { workflowId },
        id: activity?.id ?? '',
      });
    },
    async untilAsleep(workflowId) {
      await eventually(
        () => client.workflow.getHandle(workflowId).fetchHistory(),
        ({ events }) => events?.some((event) => event.timerStartedEventAttributes) === true,
      );
    },
    async closed(workflowId, timeoutMs) {
      const run = await eventually(
        () => describe(workflowId).catch(() => null),
        (description) => description !== null && description.status.name !== 'RUNNING',
        timeoutMs,
      );
      return run?.status.name ?? '';
    },
    close: () => connection.close(),
  };
  return operator;
}

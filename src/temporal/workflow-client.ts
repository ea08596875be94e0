import type { Client, WorkflowHandle, WorkflowStartOptions } from '@temporalio/client';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Priority, SearchAttributePair } from '@temporalio/common';
import type { WorkspaceId } from '../ids.ts';
import { pause } from '../pause.ts';
import { learnRefusal, usableAttributes } from './search-attributes.ts';
import type { StartedWorkflows } from './shapes.ts';

/**
 * Has Temporal hand out a run's tasks, and those of its activities, workspace by workspace in turn, where
 * `matching.enableFairness` is set (contract.md J17).
 * @param weight tasks that are handed out in one turn
 */
export const workspaceShare = (workspace: WorkspaceId, weight = 1): Priority => ({
  fairnessKey: workspace,
  fairnessWeight: weight,
});

/** The calls of a client whose transport can be given a deadline. */
export type TemporalClient = Pick<Client, 'workflow' | 'schedule' | 'withDeadline'>;

/** `completed` is a closed run that ended on its own, with a result. */
export type RunState = 'running' | 'completed' | 'closed' | 'unknown';

/**
 * Starts a run, by the name of its workflow, under an id that is used once, whatever happens: FAIL while one runs, REJECT_DUPLICATE when
 * one has closed. Goes without the search attributes that the namespace does not have: it takes a further call to
 * learn of each one, and none once that is known.
 * @returns false when the id was used before, which is as good as started
 * @throws when the server can't be reached before the deadline
 */
export async function startOnce<Name extends keyof StartedWorkflows>(
  client: TemporalClient,
  workflow: Name,
  options: WorkflowStartOptions<StartedWorkflows[Name]> & {
    typedSearchAttributes: SearchAttributePair[];
    deadlineMs: number;
  },
): Promise<boolean> {
  const { deadlineMs, typedSearchAttributes, ...rest } = options;
  const start = (attributes: SearchAttributePair[]) =>
    client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.start<StartedWorkflows[Name]>(workflow, {
        ...(rest as WorkflowStartOptions<StartedWorkflows[Name]>),
        typedSearchAttributes: attributes,
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      }),
    );
  for (;;) {
    const attributes = usableAttributes(client, typedSearchAttributes);
    try {
      await start(attributes);
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
      if (!learnRefusal(client, attributes, error)) throw error;
    }
  }
}

/**
 * What has become of a run. Only an id that the server does not know is `unknown`: a run that was never
 * started, or was lost with the server's data.
 * @throws when the server can't be reached
 */
export async function runState(client: TemporalClient, workflowId: string): Promise<RunState> {
  const reached = await reach(client, workflowId, 5_000, (run) => run.describe());
  if (reached === undefined) return 'unknown';
  const { name } = reached.result.status;
  if (name === 'COMPLETED') return 'completed';
  return name === 'RUNNING' ? 'running' : 'closed';
}

/** Makes a call about a run. @returns undefined when the server knows no run, or none that is open where it has to be */
async function reach<Result>(
  client: TemporalClient,
  workflowId: string,
  deadlineMs: number,
  call: (run: WorkflowHandle) => Promise<Result>,
): Promise<{ readonly result: Result } | undefined> {
  try {
    const work = () => call(client.workflow.getHandle(workflowId));
    return { result: await client.withDeadline(Date.now() + deadlineMs, work) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** Asks a run to stop. @returns false when there is no run that could */
export const cancelRun = async (client: TemporalClient, workflowId: string): Promise<boolean> =>
  (await reach(client, workflowId, 2_000, (run) => run.cancel())) !== undefined;

/** Sends a run a signal. @returns false when there is no run that could take it */
export const signalRun = async (
  client: TemporalClient,
  workflowId: string,
  signal: string,
): Promise<boolean> => (await reach(client, workflowId, 2_000, (run) => run.signal(signal))) !== undefined;

const ASK_AGAIN_MS = 1_000;

/** Resolves when a run has ended, however it did, or at the signal. A server that is away is asked again. */
export async function awaitRun(
  client: TemporalClient,
  workflowId: string,
  signal: AbortSignal,
): Promise<void> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const onAbort = () => resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  const hasEnded = async (): Promise<boolean> => {
    try {
      await client.workflow.getHandle(workflowId).result();
      return true;
    } catch (error) {
      return error instanceof WorkflowFailedError || error instanceof WorkflowNotFoundError;
    }
  };
  try {
    while (!signal.aborted && (await Promise.race([hasEnded(), aborted])) === false) {
      await pause(ASK_AGAIN_MS, signal);
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

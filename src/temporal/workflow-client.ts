import type { Client, WorkflowStartOptions } from '@temporalio/client';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { pause } from '../pause.ts';
import { learnRefusal, usableAttributes } from './search-attributes.ts';
import type { StartedWorkflows } from './shapes.ts';

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
  try {
    const { status } = await client.withDeadline(Date.now() + 5_000, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    if (status.name === 'COMPLETED') return 'completed';
    return status.name === 'RUNNING' ? 'running' : 'closed';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown';
    throw error;
  }
}

/** Asks a run to stop. @returns false when there is none that could */
export async function cancelRun(client: TemporalClient, workflowId: string): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + 2_000, () => client.workflow.getHandle(workflowId).cancel());
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Sends a run a signal. @returns false when there is none that could take it */
export async function signalRun(
  client: TemporalClient,
  workflowId: string,
  signal: string,
): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + 2_000, () => client.workflow.getHandle(workflowId).signal(signal));
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

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

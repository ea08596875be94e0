import type { Logger } from 'pino';
import type { DeliveryId } from '../../ids.ts';
import { deliveryWorkflowId } from '../../temporal/ids.ts';
import { cancelRun, type TemporalClient } from '../../temporal/workflow-client.ts';

const PARALLEL = 20;
/** So many calls without an answer mean that Temporal is away, and that the rest would only wait too. */
const MAX_FAILURES = 20;

export interface RunCanceller {
  /**
   * Cancels the runs of deliveries that are gone, in the background, some at a time and best effort: a run that
   * is not reached finds no delivery at its next attempt, and ends then.
   */
  cancel(deliveryIds: readonly DeliveryId[]): void;
  /**
   * Begins no further call and waits for those in flight, 2 s at most. The client's connection has to stay open
   * until then: the client repeats a call on a timer, and one that meets a closed connection ends the process.
   */
  close(): Promise<void>;
}

export interface RunCancellerDependencies {
  readonly client: TemporalClient;
  readonly logger: Logger;
}

/**
 * Cancels runs of deliveries, some at a time, until too many calls have failed.
 * @param goesOn asked before each call
 * @returns how many calls have failed
 */
export async function cancelRuns(
  client: TemporalClient,
  deliveryIds: readonly DeliveryId[],
  goesOn: () => boolean,
): Promise<number> {
  const waiting = deliveryIds.values();
  let failures = 0;
  const cancelNext = async (): Promise<void> => {
    for (const id of waiting) {
      if (!goesOn() || failures >= MAX_FAILURES) return;
      try {
        await cancelRun(client, deliveryWorkflowId(id));
      } catch {
        failures += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, cancelNext));
  return failures;
}

/** Creates the canceller of a process. */
export function createRunCanceller({ client, logger }: RunCancellerDependencies): RunCanceller {
  const working = new Set<Promise<void>>();
  let closing = false;

  async function cancelAll(deliveryIds: readonly DeliveryId[]): Promise<void> {
    const failures = await cancelRuns(client, deliveryIds, () => !closing);
    if (failures > 0) {
      logger.warn(
        { runs: deliveryIds.length, failures },
        'some runs of deliveries that are gone end by themselves',
      );
    }
  }

  return {
    cancel(deliveryIds) {
      const work = cancelAll(deliveryIds).finally(() => working.delete(work));
      working.add(work);
    },
    async close() {
      closing = true;
      await Promise.all(working);
    },
  };
}

import type { Logger } from 'pino';
import type { DeliveryId } from '../../ids.ts';
import { deliveryWorkflowId } from '../../temporal/ids.ts';
import { cancelRun, type TemporalClient } from '../../temporal/workflow-client.ts';

/** Concurrent calls. When all of them fail, Temporal is away and the rest is skipped. */
const PARALLEL = 20;

export interface RunCanceller {
  /**
   * Cancels the runs of ended deliveries in the background, best effort: a run that is not reached ends at its next
   * attempt.
   */
  cancel(deliveryIds: readonly DeliveryId[]): void;
  /**
   * Starts no further call and waits up to 2 s for those in flight. The client's connection has to stay open until
   * then: the client repeats a call on a timer, and one that meets a closed connection ends the process.
   */
  close(): Promise<void>;
}

/**
 * Cancels runs of deliveries until too many calls have failed.
 * @param goesOn checked before each round of calls
 * @returns how many calls failed
 */
export async function cancelRuns(
  client: TemporalClient,
  deliveryIds: readonly DeliveryId[],
  goesOn: () => boolean,
): Promise<number> {
  let failures = 0;
  for (let from = 0; from < deliveryIds.length && failures < PARALLEL && goesOn(); from += PARALLEL) {
    const ids = deliveryIds.slice(from, from + PARALLEL);
    const calls = await Promise.allSettled(ids.map((id) => cancelRun(client, deliveryWorkflowId(id))));
    failures += calls.filter(({ status }) => status === 'rejected').length;
  }
  return failures;
}

/** Creates the canceller of a process. */
export function createRunCanceller({
  client,
  logger,
}: {
  readonly client: TemporalClient;
  readonly logger: Logger;
}): RunCanceller {
  const working = new Set<Promise<void>>();
  let closing = false;
  return {
    cancel(deliveryIds) {
      const work = cancelRuns(client, deliveryIds, () => !closing).then((failures) => {
        working.delete(work);
        if (failures === 0) return;
        const runs = deliveryIds.length;
        logger.warn(
          { runs, failures },
          'some runs of deleted deliveries were not cancelled; they end by themselves',
        );
      });
      working.add(work);
    },
    async close() {
      closing = true;
      await Promise.all(working);
    },
  };
}

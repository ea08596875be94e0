import type { Logger } from 'pino';
import type { DeliveryId } from '../../ids.ts';
import { deliveryWorkflowId } from '../../temporal/ids.ts';
import { cancelRun, type TemporalClient } from '../../temporal/runs.ts';

const PARALLEL = 20;
/** So many calls without an answer mean that Temporal is away, and that the rest would only wait too. */
const MOST_FAILURES = 20;

export interface CancelRunsDependencies {
  readonly client: TemporalClient;
  readonly logger: Logger;
}

/**
 * Cancels the runs of deliveries that are gone, some at a time and best effort: a run that is not reached finds
 * no delivery at its next attempt, and ends then. Never rejects.
 */
export async function cancelDeliveryRuns(
  { client, logger }: CancelRunsDependencies,
  deliveryIds: readonly DeliveryId[],
): Promise<void> {
  const waiting = deliveryIds.values();
  let failures = 0;
  const cancelNext = async (): Promise<void> => {
    for (const id of waiting) {
      if (failures >= MOST_FAILURES) return;
      try {
        await cancelRun(client, deliveryWorkflowId(id));
      } catch {
        failures += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, cancelNext));
  if (failures > 0) {
    logger.warn({ runs: deliveryIds.length, failures }, 'some runs of a deleted endpoint end by themselves');
  }
}

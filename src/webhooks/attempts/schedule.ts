import { ApplicationFailure } from '@temporalio/common';
import type { AttemptRecord } from '../../temporal/shapes.ts';

/** Six attempts, with waits of 30 s, 1, 2, 4 and 8 minutes (contract.md D8). No I/O: workflows import it. */
export const MAX_ATTEMPTS = 6;

export const FIRST_WAIT_MS = 30_000;
export const LONGEST_WAIT_MS = 480_000;
/** How often a run that is held looks whether it still is. */
export const HELD_MS = 60_000;

/** Milliseconds between the end of attempt `number` (1 to 5) and the next attempt. */
export const waitAfter = (number: number): number =>
  Math.min(FIRST_WAIT_MS * 2 ** (number - 1), LONGEST_WAIT_MS);

/**
 * The error that fails an attempt of a run; after the last one it ends the run.
 * @param retryInMs the wait before the next attempt, where it differs from the policy's
 */
export const attemptFailed = (
  { number, verdict, errorMessage }: AttemptRecord,
  retryInMs?: number,
): ApplicationFailure => {
  const isLast = verdict === 'failed' || number >= MAX_ATTEMPTS;
  return ApplicationFailure.create({
    type: 'DeliveryAttemptFailed',
    message: `attempt ${number} of ${MAX_ATTEMPTS}: ${errorMessage ?? 'failed'}`,
    nonRetryable: isLast,
    category: 'BENIGN',
    ...(isLast || retryInMs === undefined ? {} : { nextRetryDelay: retryInMs }),
  });
};

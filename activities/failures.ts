import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationSignal, log } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { MissingHoldError } from '../src/credits/holds.ts';
import { isConstraintViolation, uniqueViolation } from '../src/db/errors.ts';
import { ProviderError } from '../src/providers/types.ts';

const READ_RETRY_MS = 1_000;

/** Runs database work. A broken constraint or a missing hold will be so next time too; a lost race for a slug will not. */
export async function onDatabase<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isFinal =
      error instanceof MissingHoldError ||
      (isConstraintViolation(error) && uniqueViolation(error) !== 'articles_slug_key');
    if (!isFinal) throw error;
    throw ApplicationFailure.create({
      type: error instanceof MissingHoldError ? 'MissingHold' : 'ConstraintViolation',
      message: error instanceof Error ? error.message : String(error),
      nonRetryable: true,
    });
  }
}

/**
 * Repeats database work inside the attempt until it succeeds, so that a database that is away spends no
 * attempt. The caller heartbeats meanwhile.
 * @throws the cancellation's reason
 */
export async function persistently<Result>(work: () => Promise<Result>): Promise<Result> {
  const signal = cancellationSignal();
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      log.warn('waiting for the database', { error: error instanceof Error ? error.message : String(error) });
      await sleep(READ_RETRY_MS, undefined, { signal });
    }
  }
}

/** A provider's error as Temporal understands it: what may pass is retried by the activity's policy. */
export function providerFailure(error: unknown): unknown {
  if (cancellationSignal().aborted) return new CancelledFailure('cancelled while waiting for the provider');
  if (!(error instanceof ProviderError)) return error;
  return ApplicationFailure.create({
    type: 'ProviderError',
    message: error.message,
    nonRetryable: error.kind !== 'retryable',
    details: [{ kind: error.kind, attempt: activityInfo().attempt }],
    ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: error.retryAfterMs }),
  });
}

/**
 * How activities treat errors. `errorKind` (src/db/error-kind.ts) tells transient from permanent and unknown ones.
 *
 * | Work                                                 | Use                        | Transient         | Permanent, unknown     |
 * | :--------------------------------------------------- | :------------------------- | :---------------- | :--------------------- |
 * | On the database, safe to repeat                      | `asFinalFailure`           | next attempt      | final; at 10 attempts  |
 * | On the database, with a result that must not be lost | `retryWhileDatabaseIsAway` | repeated in place | final; at 10 tries     |
 * | The same, inside work that handles its errors        | `whileAway`                | repeated in place | thrown                 |
 * | A provider's call                                    | `providerFailure`          | next attempt      | by the provider's kind |
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import pg from 'pg';
import { MissingHoldError } from '../src/credits/holds.ts';
import { errorKind } from '../src/db/error-kind.ts';
import { ReassemblyError } from '../src/document/translation/reassemble.ts';
import { ProviderError } from '../src/providers/types.ts';

const READ_RETRY_MS = 1_000;
/** Failures of unknown cause before the activity fails permanently. */
export const MAX_FAILURES = 10;

/** What an attempt leaves for the next one, in its heartbeats. */
interface Progress {
  /** Failures that count toward `MAX_FAILURES`. */
  readonly failures: number;
}

function progress(): Progress {
  const details: unknown = activityInfo().heartbeatDetails;
  const failures: unknown = Reflect.get(Object(details), 'failures');
  return { failures: typeof failures === 'number' ? failures : 0 };
}

/** Heartbeats, keeping the counts of earlier attempts. */
export const beat = (): void => heartbeat(progress());

/** Logs a failed clean-up. */
export const onLeftOver = (part: string, error: unknown): void =>
  log.error('ended, but some of the clean-up failed', { part, error });

/**
 * Runs database work. Connection failures are retried as long as they last. A permanent error ends the activity: a
 * violated constraint, bad data, a bug in our code. Any other failure is tried ten times.
 */
export async function asFinalFailure<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw databaseFailure(error);
  }
}

function databaseFailure(error: unknown): unknown {
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof ProviderError) return providerFailure(error, []);
  const kind =
    error instanceof MissingHoldError || error instanceof ReassemblyError ? 'permanent' : errorKind(error);
  if (kind === 'transient') return error;
  const failures = progress().failures + 1;
  if (kind === 'unknown' && failures < MAX_FAILURES) {
    heartbeat({ failures } satisfies Progress);
    return error;
  }
  return forGood(error);
}

function forGood(error: unknown): ApplicationFailure {
  log.error('failed for good', { error });
  return ApplicationFailure.create({ ...nameOf(error), nonRetryable: true });
}

/** The error, without the values that messages of Postgres and JSON quote: the history keeps no content. */
function nameOf(error: unknown): { type: string; message: string } {
  if (error instanceof pg.DatabaseError) {
    const { code = '', constraint = '' } = error;
    return { type: 'PostgresError', message: `Postgres refused it: ${`${code} ${constraint}`.trim()}` };
  }
  if (!(error instanceof Error)) return { type: 'Error', message: 'not an Error' };
  return { type: error.name, message: error instanceof SyntaxError ? 'bad syntax' : error.message };
}

/**
 * Retries database work within the attempt while the database is away, so that no attempt is spent. An unknown failure
 * is tried ten times, a permanent one once. The caller must heartbeat.
 * @throws the cancellation's reason, or a failure that ends the activity
 */
export async function retryWhileDatabaseIsAway<Result>(work: () => Promise<Result>): Promise<Result> {
  let failures = 0;
  const again = (error: unknown): boolean => {
    const kind = errorKind(error);
    if (kind === 'unknown') failures += 1;
    return kind === 'transient' || (kind === 'unknown' && failures < MAX_FAILURES);
  };
  const signal = cancellationSignal();
  try {
    return await repeat(work, again);
  } catch (error) {
    throw signal.aborted ? error : forGood(error);
  }
}

/**
 * Retries while the database is away; any other error is the caller's.
 * @throws the cancellation's reason, or the error
 */
export async function whileAway<Result>(work: () => Promise<Result>): Promise<Result> {
  return repeat(work, (error) => errorKind(error) === 'transient');
}

async function repeat<Result>(
  work: () => Promise<Result>,
  again: (error: unknown) => boolean,
): Promise<Result> {
  const signal = cancellationSignal();
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!again(error)) throw error;
      log.warn('waiting for the database', { error });
      await sleep(READ_RETRY_MS, undefined, { signal });
    }
  }
}

/** Kinds of a provider's error that the activity's policy retries. */
type RetriedKinds = readonly ('retryable' | 'misconfigured')[];

/** Turns an error of a provider into Temporal's form. Any other error comes from the database or our own code. */
export function providerFailure(error: unknown, retried: RetriedKinds): unknown {
  if (cancellationSignal().aborted) return new CancelledFailure('cancelled while waiting for the provider');
  if (!(error instanceof ProviderError)) return databaseFailure(error);
  const nextRetryDelay = retryDelay(error);
  return ApplicationFailure.create({
    type: 'ProviderError',
    message: error.message,
    nonRetryable: !retried.some((kind) => kind === error.kind),
    details: [{ kind: error.kind, attempt: activityInfo().attempt }],
    ...(nextRetryDelay === undefined ? {} : { nextRetryDelay }),
  });
}

/**
 * Milliseconds to the next attempt; undefined leaves it to the policy. After a limited rate an attempt waits at least as
 * long as the policy has it wait, so that short pauses don't use up the attempts, and not as long as its neighbours.
 */
function retryDelay({ limited, retryAfterMs }: ProviderError): number | undefined {
  if (!limited) return retryAfterMs;
  const { attempt, retryPolicy } = activityInfo();
  const {
    initialInterval = '1 second',
    maximumInterval = '1 minute',
    backoffCoefficient = 2,
  } = retryPolicy ?? {};
  const wait = msToNumber(initialInterval) * backoffCoefficient ** (attempt - 1);
  const most = msToNumber(maximumInterval);
  return Math.max(retryAfterMs ?? 0, Math.min(wait, most)) * (1 + Math.random() / 2);
}

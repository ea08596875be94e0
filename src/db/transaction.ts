import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from './database.ts';
import { isRetryable } from './errors.ts';
import { guardOf } from './guard.ts';

const RETRIES = 3;

/** Callbacks after each transaction's commit. */
const followUps = new WeakMap<Tx, Set<() => void>>();

/**
 * Runs `work` in one transaction, and again (three times at most) when Postgres chose it as the victim of a deadlock or
 * a serialization failure. `work` must have no effect outside the transaction, except by `afterCommit`.
 *
 * On a request's database the transaction reads the request's authority again, first and in the message of the first
 * statement of `work`, so that no verb can forget it (contract.md A40).
 */
export async function inTransaction<Result>(
  db: Database,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const guard = guardOf(db);
  return retryingConflicts(async () => {
    const callbacks = new Set<() => void>();
    const result = await db.transaction().execute(async (tx) => {
      followUps.set(tx, callbacks);
      await guard?.check(tx);
      return work(tx);
    });
    for (const callback of callbacks) callSafely(callback);
    return result;
  }).catch((error: unknown) => {
    throw guard === undefined ? error : guard.explain(error);
  });
}

/** Runs one statement, and again (three times at most) when Postgres chose it as the victim of a deadlock. */
export async function retryingConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= RETRIES || !isRetryable(error)) throw error;
      await sleep(10 * 2 ** attempt * (0.5 + Math.random()));
    }
  }
}

/**
 * Calls back once after the commit of an `inTransaction`, however often the same function is given; never after a
 * rollback. An error of the callback becomes a warning of the process: the change is committed, and its caller must get
 * a success.
 * @throws Error in any other transaction, whose commit is not observed
 */
export function afterCommit(tx: Tx, callback: () => void): void {
  const callbacks = followUps.get(tx);
  if (callbacks === undefined) throw new Error('afterCommit needs a transaction of inTransaction');
  callbacks.add(callback);
}

function callSafely(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}

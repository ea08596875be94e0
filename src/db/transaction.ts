import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import type { Database, Tx } from './database.ts';
import { isRetryable } from './errors.ts';
import { SET_STATEMENT_TIMEOUT } from './silence.ts';

const RETRIES = 3;

/**
 * Runs `work` in one transaction, and again (three times at most) when Postgres chose it as the victim of
 * a deadlock or a serialization failure. `work` must have no effect outside the transaction.
 */
export async function inTransaction<Result>(
  db: Database,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (attempt >= RETRIES || !isRetryable(error)) throw error;
      await sleep(10 * 2 ** attempt * (0.5 + Math.random()));
    }
  }
}

/**
 * Raises the statement limit for the rest of the transaction.
 * @param ms milliseconds; 0 for no limit
 */
export async function allowLongStatements(tx: Tx, ms: number): Promise<void> {
  await tx.executeQuery(CompiledQuery.raw(SET_STATEMENT_TIMEOUT, [String(ms)]));
}

import type { Database, Tx } from './database.ts';

/** What every transaction of a guarded database does first. */
export interface TransactionGuard {
  /** Runs a statement of `firstStatement`: it goes out in the message of the transaction's own first one. */
  readonly check: (tx: Tx) => Promise<unknown>;
  /** The error to throw for an error of the transaction: the same one unless the check refused it. */
  readonly explain: (error: unknown) => unknown;
}

const guards = new WeakMap<Database, { readonly guard: TransactionGuard; readonly service: Database }>();

/** The same database, each `inTransaction` of which begins with the guard's check. */
export function guarded(db: Database, guard: TransactionGuard): Database {
  // A copy over the same connections: others may hold `db`.
  const copy = db.withoutPlugins();
  guards.set(copy, { guard, service: db });
  return copy;
}

export const guardOf = (db: Database): TransactionGuard | undefined => guards.get(db)?.guard;

/** The database without its guard: for what the service does after a request's decision was committed. */
export const asService = (db: Database): Database => guards.get(db)?.service ?? db;

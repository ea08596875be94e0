import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isLockTimeout } from './errors.ts';

/** How long a migration may wait for a lock, blocking everyone behind it, before it backs off. */
export const LOCK_TIMEOUT = '2s';
/** How long it keeps trying: a dump of a large database holds its locks until it is done. */
const MAX_LOCK_RETRY_MS = 3_600_000;
const LONGEST_PAUSE_MS = 10_000;

/** Prints a line of progress for the operator. */
export type Note = (line: string) => void;

/**
 * Runs `work`, and again with growing pauses whenever it hit its lock_timeout, so that blocked sessions can continue in
 * between.
 * @throws what `work` throws, a lock timeout only after an hour
 */
export async function withLockRetries<Result>(
  what: string,
  note: Note,
  work: () => Promise<Result>,
): Promise<Result> {
  const deadline = Date.now() + MAX_LOCK_RETRY_MS;
  for (let pause = 500; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isLockTimeout(error) || Date.now() > deadline) throw error;
      note(`${what} waits for a lock that a longer transaction holds; trying again in ${pause / 1_000} s`);
      await sleep(pause);
    }
  }
}

/** Repeatable steps by which a migration outside a transaction changes a table in use. */
export interface OnlineSteps {
  /** A statement that needs a strong lock only briefly. */
  readonly alter: (statement: RawBuilder<unknown>) => Promise<void>;
  /** Builds an index, `ON table (…)`, while the table is read and written. */
  readonly createIndex: (name: string, definition: string, unique?: 'UNIQUE') => Promise<void>;
  /** Replaces an index of the same name, which is used until the new one exists. */
  readonly replaceIndex: (name: string, definition: string) => Promise<void>;
  readonly dropIndex: (name: string) => Promise<void>;
}

/** The steps on one connection, which must not be in a transaction. */
export function onlineSteps(db: Kysely<unknown>, migration: string, note: Note): OnlineSteps {
  const alter = (statement: RawBuilder<unknown>) =>
    withLockRetries(migration, note, async () => {
      await sql`SET lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(db);
      try {
        await statement.execute(db);
      } finally {
        // Building an index waits for others but blocks no one.
        await sql`SET lock_timeout = 0`.execute(db);
      }
    });
  const stateOf = async (name: string): Promise<boolean | undefined> => {
    const { rows } = await sql<{ valid: boolean }>`
      SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(${name})`.execute(db);
    return rows[0]?.valid;
  };
  const dropIndex = async (name: string) => {
    await sql`DROP INDEX CONCURRENTLY IF EXISTS ${sql.id(name)}`.execute(db);
  };
  const createIndex = async (name: string, definition: string, unique?: 'UNIQUE') => {
    const valid = await stateOf(name);
    if (valid) return;
    // Left by an interrupted build.
    if (valid === false) await dropIndex(name);
    await sql`CREATE ${sql.raw(unique ?? '')} INDEX CONCURRENTLY ${sql.id(name)} ${sql.raw(definition)}`.execute(
      db,
    );
  };
  const replaceIndex = async (name: string, definition: string) => {
    const successor = `${name}_next`;
    await createIndex(successor, definition);
    await dropIndex(name);
    await alter(sql`ALTER INDEX ${sql.id(successor)} RENAME TO ${sql.id(name)}`);
  };
  return { alter, createIndex, replaceIndex, dropIndex };
}

import { sql } from 'kysely';
import type { Tx } from './database.ts';
import { errorKind } from './error-kind.ts';

/** Called with the name of a failed clean-up and its error, to report it to operators. */
export type OnLeftOver = (part: string, error: unknown) => void;

/**
 * Runs one part of a transaction that must not stop the others. When it fails, and not because of the connection, its
 * own statements are undone, `onPassedOver` is called, and the transaction continues.
 * @returns whether the part took effect
 */
export async function inSavepoint(
  tx: Tx,
  part: () => Promise<unknown>,
  onPassedOver: (error: unknown) => void,
): Promise<boolean> {
  await sql`SAVEPOINT part`.execute(tx);
  try {
    await part();
  } catch (error) {
    if (errorKind(error) === 'transient') throw error;
    await sql`ROLLBACK TO SAVEPOINT part`.execute(tx);
    onPassedOver(error);
    return false;
  }
  await sql`RELEASE SAVEPOINT part`.execute(tx);
  return true;
}

/** Runs statements and takes them back: whoever is refused by one of them learns of it before anything else is done. */
export async function rehearse(tx: Tx, statements: () => Promise<unknown>): Promise<void> {
  await sql`SAVEPOINT rehearsal`.execute(tx);
  await statements();
  await sql`ROLLBACK TO SAVEPOINT rehearsal`.execute(tx);
}

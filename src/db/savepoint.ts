import { sql } from 'kysely';
import type { Tx } from './database.ts';
import { errorKind } from './passing.ts';

/** Told what of an end could not be done, by name, and why: who ends something says so where operators look. */
export type OnLeftOver = (part: string, error: unknown) => void;

/**
 * Runs one part of a transaction that must not keep the others from taking effect. When it fails, and not because
 * of the connection, its own statements are undone, `onPassedOver` is told, and the transaction goes on.
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
    if (errorKind(error) === 'passing') throw error;
    await sql`ROLLBACK TO SAVEPOINT part`.execute(tx);
    onPassedOver(error);
    return false;
  }
  await sql`RELEASE SAVEPOINT part`.execute(tx);
  return true;
}

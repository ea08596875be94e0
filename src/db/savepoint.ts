import { sql } from 'kysely';
import type { Tx } from './database.ts';
import { errorKind } from './passing.ts';

/**
 * Runs one part of a transaction that must not keep the others from taking effect. When it fails, and not because
 * of the connection, its own statements are undone and the transaction goes on.
 * @returns the error that was passed over; undefined when the part took effect
 */
export async function inSavepoint(tx: Tx, part: () => Promise<unknown>): Promise<unknown> {
  await sql`SAVEPOINT part`.execute(tx);
  try {
    await part();
  } catch (error) {
    if (errorKind(error) === 'passing') throw error;
    await sql`ROLLBACK TO SAVEPOINT part`.execute(tx);
    return error;
  }
  await sql`RELEASE SAVEPOINT part`.execute(tx);
  return undefined;
}

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { type CreatedWorkspace, insertWorkspace } from './create.ts';

/** Name of the workspace that a first start creates. */
export const DEFAULT_WORKSPACE = 'Default';
/** Enough to translate for a while before the operator grants more. */
const STARTING_CREDITS = 1_000;
/** Used by no other advisory lock of the service. */
const BOOTSTRAP_LOCK = 7_263_001;

/**
 * Creates the workspace `Default` with its owner key when the database has none of that name; one that is deleted and
 * can be restored counts (contract.md L4). Of processes that start together one creates it; the lock ends with the transaction.
 * @returns the new workspace with its key, to be shown once; null when it already existed
 */
export const bootstrapWorkspace = (db: Database): Promise<CreatedWorkspace | null> =>
  inTransaction(db, async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(${BOOTSTRAP_LOCK})`.execute(tx);
    const existing = await tx
      .selectFrom('workspaces')
      .select('id')
      .where('name', '=', DEFAULT_WORKSPACE)
      .where('emptying_since', 'is', null)
      .limit(1)
      .executeTakeFirst();
    if (existing !== undefined) return null;
    return insertWorkspace(tx, { name: DEFAULT_WORKSPACE, credits: STARTING_CREDITS });
  });

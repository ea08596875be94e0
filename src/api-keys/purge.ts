import { sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import { requireOperator, type VerbContext } from '../context.ts';
import { removeInBatches } from '../db/batches.ts';
import { inTransaction } from '../db/transaction.ts';
import { holdKey } from '../roles/authority.ts';

/** Keys per transaction, which writes one audit entry. */
const BATCH = 1_000;

/**
 * Deletes the workspace's keys that were revoked or had expired before a time, in batches that commit by themselves,
 * each with its audit entry (contract.md K17). A key that may still be used stays, whatever the time.
 * @returns how many were deleted
 * @throws {ServiceError} FORBIDDEN for every key, whatever its role
 */
export async function purgeKeys(context: VerbContext, endedBefore: Date): Promise<number> {
  const { db, actor } = context;
  requireOperator(actor);
  const { workspaceId } = actor;
  const before = endedBefore.toISOString();
  return removeInBatches(BATCH, () =>
    inTransaction(db, async (tx) => {
      await holdKey(tx, actor);
      // Locked in the order of their ids, as everywhere.
      const { numAffectedRows = 0n } = await sql`
        DELETE FROM api_keys WHERE id = ANY (ARRAY(
          SELECT id FROM api_keys
          WHERE workspace_id = ${workspaceId}
            AND LEAST(revoked_at, expires_at) < LEAST(${before}::timestamptz, clock_timestamp())
          ORDER BY id LIMIT ${BATCH} FOR UPDATE))`.execute(tx);
      if (numAffectedRows > 0n) {
        await recordAudit(tx, context, {
          action: 'api_keys.purged',
          targetType: 'workspace',
          targetId: workspaceId,
          details: { endedBefore: before, count: Number(numAffectedRows) },
        });
      }
      return { numAffectedRows };
    }),
  );
}

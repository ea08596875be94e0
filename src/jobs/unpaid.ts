import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { JobPurpose, UnpaidReason } from '../db/tables.ts';
import type { JobId, WorkspaceId } from '../ids.ts';
import type { JobAreas } from './runs.ts';
import { UNPAID_WINDOW } from './unpaid-limits.ts';

/**
 * Counts the words made for a run that the workspace cancelled or deleted with its article (contract.md J9), or that
 * failed because of its texts (contract.md J12).
 */
export async function countUnpaid(
  tx: Tx,
  areas: JobAreas,
  job: { id: JobId; workspace_id: WorkspaceId; purpose: JobPurpose },
  reason: UnpaidReason,
): Promise<void> {
  const words = (await areas[job.purpose]?.wordsMade(tx, job.id, reason)) ?? 0;
  await recordUnpaid(tx, job, reason, words);
}

/** Adds unpaid words of a job, if there are any. The transaction has taken the lock of the wallet. */
export async function recordUnpaid(
  tx: Tx,
  job: { id: JobId; workspace_id: WorkspaceId },
  reason: UnpaidReason,
  words: number,
): Promise<void> {
  if (words === 0) return;
  await sql`DELETE FROM unpaid_work WHERE workspace_id = ${job.workspace_id} AND created_at < now() - ${UNPAID_WINDOW}`.execute(
    tx,
  );
  await tx
    .insertInto('unpaid_work')
    .values({ job_id: job.id, workspace_id: job.workspace_id, reason, words })
    .execute();
}

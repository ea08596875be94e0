import type { Tx } from '../db/database.ts';
import type { HoldPurpose } from '../db/tables.ts';
import { requireServedNow } from '../db/workspace-state.ts';
import type { WorkspaceId } from '../ids.ts';
import { insufficientCredits, openHold, reserveCredits } from './holds.ts';
import { aiQuotaExceeded, countOperation } from './operations-quota.ts';
import { reserveBytes, storageQuotaExceeded } from './storage-quota.ts';

export interface Reservation {
  readonly workspaceId: WorkspaceId;
  readonly purpose: HoldPurpose;
  readonly runId: string;
  /** The most that the run can cost. */
  readonly credits: number;
  /** Bytes of storage that its images will need. */
  readonly bytes?: number;
  /** The month (`YYYY-MM`) that counts it as an AI operation; null when it is none. */
  readonly month: string | null;
}

/**
 * Holds what a run may use. It comes last in its transaction, and the wallet last in it: every run of the workspace
 * locks these rows.
 * @throws {ServiceError} INSUFFICIENT_CREDITS, before QUOTA_EXCEEDED; UNAUTHENTICATED and FORBIDDEN when the workspace was
 *   deleted or suspended meanwhile
 */
export async function reserve(
  tx: Tx,
  { workspaceId, purpose, runId, credits, bytes = 0, month }: Reservation,
): Promise<void> {
  await openHold(tx, { workspaceId, purpose, runId, amount: credits });
  const isCounted = month === null || (await countOperation(tx, workspaceId, month));
  const bytesFit = await reserveBytes(tx, workspaceId, bytes);
  if (!(await reserveCredits(tx, workspaceId, credits))) {
    await requireServedNow(tx, workspaceId);
    throw insufficientCredits(credits);
  }
  if (!isCounted) throw aiQuotaExceeded();
  if (!bytesFit) throw storageQuotaExceeded(bytes);
}

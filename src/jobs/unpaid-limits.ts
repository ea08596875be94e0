import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { UnpaidReason } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import type { WorkspaceId } from '../ids.ts';

/** How long unpaid words count. */
export const UNPAID_WINDOW = sql`interval '24 hours'`;
/** Failed work has a limit of so many times that of cancelled work. */
const FAILED_LIMIT_TIMES = 5;

/** Unpaid words above a limit. */
export interface UnpaidExcess {
  readonly reason: UnpaidReason;
  /** Until enough of them are older, at least 1. */
  readonly seconds: number;
  readonly until: Date;
  /** What is above its limit, as a sentence for customers. */
  readonly explanation: string;
}

/**
 * The limit of unpaid words of the last 24 hours that the workspace is above, the one that lasts longest; null for none.
 * Every run that has ended took the lock of the wallet before: a caller who holds that sees all of them. So does a job at
 * its turn, which the end of another has made free.
 * @param limit of cancelled work; 0 is no limit of either
 */
export async function findUnpaidExcess(
  tx: Tx,
  workspaceId: WorkspaceId,
  limit: number,
): Promise<UnpaidExcess | null> {
  if (limit === 0) return null;
  const limits: Readonly<Record<UnpaidReason, number>> = {
    cancelled: limit,
    failed: limit * FAILED_LIMIT_TIMES,
  };
  // Newest first: the rows from which on the sum exceeds the limit have to age out.
  const { rows } = await sql<Pick<UnpaidExcess, 'reason' | 'seconds' | 'until'>>`
    SELECT reason, max(created_at) + ${UNPAID_WINDOW} AS until,
      greatest(1, ceil(extract(epoch FROM max(created_at) + ${UNPAID_WINDOW} - now())))::integer AS seconds
    FROM (
      SELECT reason, created_at, sum(words) OVER (PARTITION BY reason ORDER BY created_at DESC, job_id) AS so_far
      FROM unpaid_work WHERE workspace_id = ${workspaceId} AND created_at >= now() - ${UNPAID_WINDOW}
    ) AS unpaid
    WHERE so_far > CASE reason WHEN 'failed' THEN ${limits.failed}::numeric ELSE ${limits.cancelled}::numeric END
    GROUP BY reason ORDER BY until DESC LIMIT 1
  `.execute(tx);
  const [row] = rows;
  if (row === undefined) return null;
  const verb =
    row.reason === 'failed'
      ? 'failed because of their texts, or left an outline that is not written,'
      : 'were cancelled';
  const explanation = `Runs that ${verb} in the last 24 hours made more than ${limits[row.reason]} unpaid words.`;
  return { ...row, explanation };
}

/**
 * Refuses a run while the workspace is above a limit of unpaid words. The caller holds the lock of the wallet.
 * @throws {ServiceError} QUOTA_EXCEEDED `cancelled_work` or `failed_work`, with the seconds until enough of them are older
 */
export async function requireUnpaidWithinLimit(
  tx: Tx,
  workspaceId: WorkspaceId,
  limit: number,
): Promise<void> {
  const excess = await findUnpaidExcess(tx, workspaceId, limit);
  if (excess === null) return;
  throw new ServiceError('QUOTA_EXCEEDED', `${excess.explanation} Retry after Retry-After seconds.`, {
    details: { reason: `${excess.reason}_work` },
    retryAfter: excess.seconds,
  });
}

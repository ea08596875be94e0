import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { JobPurpose } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import type { JobId, WorkspaceId } from '../ids.ts';
import type { JobAreas } from './runs.ts';

/** How long the words of a cancelled run count. */
const WINDOW = sql`interval '24 hours'`;

/** Counts the unpaid words made for a run that the customer cancelled, or deleted with its article. */
export async function countUnpaid(
  tx: Tx,
  areas: JobAreas,
  job: { id: JobId; workspace_id: WorkspaceId; purpose: JobPurpose },
): Promise<void> {
  const words = (await areas[job.purpose]?.wordsMade(tx, job.id)) ?? 0;
  if (words === 0) return;
  await sql`DELETE FROM unpaid_work WHERE workspace_id = ${job.workspace_id} AND created_at < now() - ${WINDOW}`.execute(
    tx,
  );
  await tx
    .insertInto('unpaid_work')
    .values({ job_id: job.id, workspace_id: job.workspace_id, words })
    .execute();
}

/**
 * Refuses a run while the workspace's unpaid words of the last 24 hours are above the limit; 0 is no limit. The caller
 * holds the lock of the wallet, which every cancelled run has taken before.
 * @throws {ServiceError} QUOTA_EXCEEDED, with the seconds until enough of them are older
 */
export async function requireUnpaidWithinLimit(
  tx: Tx,
  workspaceId: WorkspaceId,
  limit: number,
): Promise<void> {
  if (limit === 0) return;
  // Newest first: the rows from which on the sum exceeds the limit have to age out.
  const { rows } = await sql<{ seconds: number | null }>`
    SELECT ceil(extract(epoch FROM max(created_at) + ${WINDOW} - now()))::integer AS seconds
    FROM (
      SELECT created_at, sum(words) OVER (ORDER BY created_at DESC, job_id) AS so_far
      FROM unpaid_work WHERE workspace_id = ${workspaceId} AND created_at >= now() - ${WINDOW}
    ) AS unpaid
    WHERE so_far > ${limit}
  `.execute(tx);
  const seconds = rows[0]?.seconds ?? null;
  if (seconds === null) return;
  throw new ServiceError(
    'QUOTA_EXCEEDED',
    `Runs cancelled in the last 24 hours made more than ${limit} unpaid words. Retry after Retry-After seconds.`,
    { retryAfter: Math.max(1, seconds) },
  );
}

import { sql } from 'kysely';
import { ServiceError } from '../errors.ts';
import type { WorkspaceId } from '../ids.ts';
import type { Queryable, Tx } from './database.ts';
import { checkViolation } from './errors.ts';

/** The checks of a commit that `migrations/0047_bounds.ts` makes, by name. */
const REFUSALS: Readonly<Record<string, string>> = {
  articles_quota: 'A workspace has at most 100,000 articles. Delete some first.',
  storage_quota:
    "Articles, their revisions and images would take more than the workspace's storage quota. Delete some first, or make this one smaller.",
};

/** 429 for a commit that found a quota exceeded, undefined for any other error (contract.md R14 and R15). */
export function asQuotaExceeded(error: unknown): ServiceError | undefined {
  const refusal = REFUSALS[checkViolation(error) ?? ''];
  return refusal === undefined ? undefined : new ServiceError('QUOTA_EXCEEDED', refusal, { cause: error });
}

/** Makes the checks of the commit now, where there will be none. */
export const checkQuotasNow = async (tx: Tx): Promise<void> => {
  await sql`SET CONSTRAINTS ALL IMMEDIATE`.execute(tx);
};

/** The octets of a workspace's articles, revisions, sources and memory of translations. */
export const textBytes = (workspaceId: WorkspaceId) =>
  sql<number>`coalesce((SELECT sum(text_bytes) FROM workspace_usage WHERE workspace_id = ${workspaceId}), 0)::float8`;

/** {@link textBytes} as of now. */
export async function readTextBytes(db: Queryable, workspaceId: WorkspaceId): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`SELECT ${textBytes(workspaceId)} AS bytes`.execute(db);
  return rows[0]?.bytes ?? 0;
}

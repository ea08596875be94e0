import { sql } from 'kysely';
import { requireOperator, type VerbContext } from '../context.ts';
import { inLivingProject } from '../db/living-projects.ts';
import { textBytes } from '../db/quotas.ts';
import { notFound } from '../errors.ts';
import { iso } from '../fields.ts';
import type { WorkspaceId } from '../ids.ts';

/** A workspace as the operator sees it. */
export interface ShownWorkspace {
  readonly workspaceId: WorkspaceId;
  readonly name: string;
  readonly createdAt: string;
  readonly suspendedAt: string | null;
  readonly wallet: { readonly balance: number; readonly reserved: number; readonly available: number };
  /** Of this calendar month (UTC). */
  readonly aiOperations: { readonly used: number; readonly limit: number };
  /** Images and texts; texts are part of `used`. */
  readonly storageBytes: { readonly used: number; readonly texts: number; readonly limit: number };
  /** Its own limits; null where the configured one holds. */
  readonly requestsPerMinute: { readonly key: number | null; readonly workspace: number | null };
  readonly keys: { readonly living: number; readonly all: number };
  readonly roles: number;
  readonly projects: number;
  readonly articles: number;
  readonly endpoints: number;
  readonly openJobs: number;
}

/**
 * The workspace with its wallet, limits and counts (operator only).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function showWorkspace({ db, actor }: VerbContext): Promise<ShownWorkspace> {
  requireOperator(actor);
  const { workspaceId } = actor;
  const month = new Date().toISOString().slice(0, 7);
  const count = (table: string, condition = sql`true`) =>
    sql<number>`(SELECT count(*) FROM ${sql.table(table)} WHERE workspace_id = ${workspaceId} AND ${condition})::integer`;
  const living = sql`revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())`;
  const row = await db
    .selectFrom('workspaces')
    .innerJoin('wallets', 'workspace_id', 'id')
    .select(['name', 'created_at', 'suspended_at', 'balance', 'reserved'])
    .select(['ai_operations_limit', 'storage_bytes_limit', 'storage_bytes_used'])
    .select(['requests_per_key', 'requests_per_workspace'])
    .select([
      sql<number>`coalesce((SELECT used FROM ai_operation_usage WHERE workspace_id = ${workspaceId} AND month = ${month}), 0)`.as(
        'operations',
      ),
      textBytes(workspaceId).as('text_bytes'),
      count('api_keys', living).as('living_keys'),
      count('api_keys').as('keys'),
      count('roles').as('roles'),
      count('projects', sql`deleted_at IS NULL`).as('projects'),
      count('articles', inLivingProject(workspaceId)).as('articles'),
      count('webhook_endpoints', sql`deleted_at IS NULL`).as('endpoints'),
      count('jobs', sql`ended_at IS NULL`).as('open_jobs'),
    ])
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow(() => notFound('workspace'));
  const { balance, reserved, roles, projects, articles, endpoints } = row;
  return {
    workspaceId,
    name: row.name,
    createdAt: iso(row.created_at),
    suspendedAt: iso(row.suspended_at),
    wallet: { balance, reserved, available: balance - reserved },
    aiOperations: { used: row.operations, limit: row.ai_operations_limit },
    storageBytes: {
      used: row.storage_bytes_used + row.text_bytes,
      texts: row.text_bytes,
      limit: row.storage_bytes_limit,
    },
    requestsPerMinute: { key: row.requests_per_key, workspace: row.requests_per_workspace },
    keys: { living: row.living_keys, all: row.keys },
    roles,
    projects,
    articles,
    endpoints,
    openJobs: row.open_jobs,
  };
}

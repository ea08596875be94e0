import { sql } from 'kysely';
import type { Author } from '../context.ts';
import type { Database, Tx } from '../db/database.ts';
import { iso } from '../fields.ts';
import { type PageRequest, readPage } from '../http/paging.ts';
import { newOrderedId, type OperatorLogId, type WorkspaceId } from '../ids.ts';

/** The operator of a change that the service made itself. */
const SERVICE = 'service';

/** What was changed, as an audit entry names it. */
export interface Operated {
  /** `<area>.<verb>`, such as `api_keys.created`. */
  readonly action: string;
  /** In the singular: `api_key`, `category`. */
  readonly targetType: string;
  readonly targetId: string | null;
}

/**
 * Writes what an operator changed into the operators' log, which no workspace takes along when it goes (contract.md
 * L10). A key's name there is its prefix.
 */
export async function recordOperation(
  tx: Tx,
  { actor }: Author,
  { action, targetType, targetId }: Operated,
): Promise<void> {
  const operator =
    actor.kind === 'operator'
      ? (actor.name ?? SERVICE)
      : actor.kind === 'api_key'
        ? `key ${actor.keyPrefix}`
        : SERVICE;
  await tx
    .insertInto('operator_log')
    .values({
      id: newOrderedId<OperatorLogId>(),
      operator,
      action,
      workspace_id: actor.workspaceId,
      workspace_name: sql<string | null>`(SELECT name FROM workspaces WHERE id = ${actor.workspaceId})`,
      target_type: targetType,
      target_id: targetId,
    })
    .execute();
}

/** One entry of the operators' log. */
export interface Operation {
  readonly entryId: OperatorLogId;
  readonly createdAt: string;
  readonly operator: string;
  readonly action: string;
  readonly workspaceId: WorkspaceId;
  readonly workspaceName: string | null;
  readonly targetType: string;
  readonly targetId: string | null;
}

/** One page of the operators' log, newest first, of one workspace or of all. Operator only. */
export async function listOperations(
  db: Database,
  workspaceId: WorkspaceId | undefined,
  page: PageRequest<OperatorLogId>,
): Promise<{ operations: Operation[]; nextCursor: string | null }> {
  let query = db.selectFrom('operator_log').selectAll();
  if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId);
  const { rows, nextCursor } = await readPage(db, query, page);
  return {
    operations: rows.map((row) => ({
      entryId: row.id,
      createdAt: iso(row.created_at),
      operator: row.operator,
      action: row.action,
      workspaceId: row.workspace_id,
      workspaceName: row.workspace_name,
      targetType: row.target_type,
      targetId: row.target_id,
    })),
    nextCursor,
  };
}

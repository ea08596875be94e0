import { requirePermissions, type VerbContext } from '../context.ts';
import { iso } from '../fields.ts';
import { olderThan, type Position, pageOf } from '../http/paging.ts';
import type { AuditEntryId } from '../ids.ts';
import type { AuditPage } from './schemas.ts';

/** One page of the workspace's audit log, newest first, beginning after `position`. */
export async function listAuditEntries(
  { db, actor }: VerbContext,
  { limit, position }: { limit: number; position: Position<AuditEntryId> | null },
): Promise<AuditPage> {
  requirePermissions(actor, 'audit.read');
  let query = db
    .selectFrom('audit_entries')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1);
  if (position !== null) query = query.where(olderThan(position));
  const rows = await query.execute();
  const { shown, nextCursor } = pageOf(rows, limit);
  return {
    entries: shown.map((row) => ({
      id: row.id,
      action: row.action,
      actor: { kind: row.actor_kind, id: row.actor_id },
      targetType: row.target_type,
      targetId: row.target_id,
      details: row.details,
      requestId: row.request_id,
      createdAt: iso(row.created_at),
    })),
    nextCursor,
  };
}

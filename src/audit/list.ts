import { requirePermissions, type VerbContext } from '../context.ts';
import { iso } from '../http/fields.ts';
import { olderThan, type Position, pageOf } from '../http/paging.ts';
import type { AuditEntryId } from '../ids.ts';

export interface AuditEntryItem {
  readonly id: AuditEntryId;
  readonly action: string;
  /** `id` is the key's id when a key acted, else null. */
  readonly actor: { readonly kind: 'api_key' | 'operator' | 'system'; readonly id: string | null };
  readonly targetType: string;
  readonly targetId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly requestId: string | null;
  readonly createdAt: string;
}

export interface AuditPage {
  readonly entries: AuditEntryItem[];
  /** Of the next page, null on the last one. */
  readonly nextCursor: string | null;
}

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

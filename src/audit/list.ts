import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../context.ts';
import { iso } from '../http/fields.ts';
import { encodeCursor, type Position } from '../http/paging.ts';
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
  if (position !== null) {
    query = query.where(sql<boolean>`(created_at, id) < (${iso(position.at)}, ${position.id})`);
  }
  const rows = await query.execute();
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    entries: page.map((row) => ({
      id: row.id,
      action: row.action,
      actor: { kind: row.actor_kind, id: row.actor_id },
      targetType: row.target_type,
      targetId: row.target_id,
      details: row.details,
      requestId: row.request_id,
      createdAt: iso(row.created_at),
    })),
    nextCursor:
      rows.length > limit && last !== undefined ? encodeCursor({ at: last.created_at, id: last.id }) : null,
  };
}

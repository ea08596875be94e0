import type { Selectable } from 'kysely';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tables } from '../db/tables.ts';
import { iso } from '../fields.ts';
import { type PageRequest, readPage } from '../http/paging.ts';
import type { AuditEntryId } from '../ids.ts';
import type { AuditPage } from './schemas.ts';

/** One page of the workspace's audit log, newest first, after `position`. */
export async function listAuditEntries(
  { db, actor }: VerbContext,
  page: PageRequest<AuditEntryId>,
): Promise<AuditPage> {
  requirePermissions(actor, 'audit.read');
  const query = db.selectFrom('audit_entries').selectAll().where('workspace_id', '=', actor.workspaceId);
  const { rows, nextCursor } = await readPage(db, query, page);
  return {
    entries: rows.map(toEntry),
    nextCursor,
  };
}

/** The wire form of an entry's row. */
export const toEntry = (row: Selectable<Tables['audit_entries']>) => ({
  id: row.id,
  action: row.action,
  actor: { kind: row.actor_kind, id: row.actor_id },
  targetType: row.target_type,
  targetId: row.target_id,
  details: row.details,
  requestId: row.request_id,
  createdAt: iso(row.created_at),
});

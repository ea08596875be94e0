import type { Kysely } from 'kysely';
import type { Author } from '../context.ts';
import { clockTimestamp } from '../db/clock.ts';
import type { Tx } from '../db/database.ts';
import { executePrepared, type Slots } from '../db/prepared.ts';
import type { Tables } from '../db/tables.ts';
import { type AuditEntryId, newOrderedId } from '../ids.ts';
import { type Operated, recordOperation } from './operator-log.ts';

export interface AuditRecord extends Operated {
  /** Details beyond the target. Never a secret, a key or its hash. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The columns of an entry for the actor's workspace, except its time. */
export const auditEntry = (
  { actor, requestId }: Author,
  { action, targetType, targetId, details = {} }: AuditRecord,
) => ({
  id: newOrderedId<AuditEntryId>(),
  workspace_id: actor.workspaceId,
  actor_kind: actor.kind,
  actor_id: actor.kind === 'api_key' ? actor.keyId : null,
  action,
  target_type: targetType,
  target_id: targetId,
  details: JSON.stringify(details),
  request_id: requestId,
});

/** Builds the statement that writes an entry, for a message of several. */
export const buildAudit = (db: Kysely<Tables>, slot: Slots<ReturnType<typeof auditEntry>>) =>
  db.insertInto('audit_entries').values({
    id: slot('id'),
    workspace_id: slot('workspace_id'),
    actor_kind: slot('actor_kind'),
    actor_id: slot('actor_id'),
    action: slot('action'),
    target_type: slot('target_type'),
    target_id: slot('target_id'),
    details: slot('details'),
    request_id: slot('request_id'),
    created_at: clockTimestamp,
  });

/**
 * Writes an audit entry for the actor's workspace in the transaction of the change it describes; what an operator does,
 * into the operators' log as well.
 */
export async function recordAudit(tx: Tx, context: Author, record: AuditRecord): Promise<void> {
  // Entries are ordered as written, also within one transaction and one millisecond.
  const values = { ...auditEntry(context, record), created_at: clockTimestamp };
  await executePrepared(tx, 'record_audit', tx.insertInto('audit_entries').values(values));
  if (context.actor.kind === 'operator') await recordOperation(tx, context, record);
}

import { sql } from 'kysely';
import type { Actor, VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { type AuditEntryId, newOrderedId } from '../ids.ts';

export interface AuditRecord {
  /** `<area>.<verb>`, such as `api_keys.created`. */
  readonly action: string;
  /** What was changed, in the singular: `api_key`, `category`. */
  readonly targetType: string;
  readonly targetId: string | null;
  /** What a reader needs beyond the target. Never a secret, a key or its hash. */
  readonly details?: Readonly<Record<string, unknown>>;
}

const actorColumns = (actor: Actor) =>
  actor.kind === 'api_key'
    ? { actor_kind: 'api_key' as const, actor_id: actor.keyId }
    : { actor_kind: 'operator' as const, actor_id: null };

/** Writes an audit entry for the actor's workspace in the transaction of the change it describes. */
export async function recordAudit(
  tx: Tx,
  { actor, requestId }: Pick<VerbContext, 'actor' | 'requestId'>,
  { action, targetType, targetId, details = {} }: AuditRecord,
): Promise<void> {
  await tx
    .insertInto('audit_entries')
    .values({
      id: newOrderedId<AuditEntryId>(),
      workspace_id: actor.workspaceId,
      ...actorColumns(actor),
      action,
      target_type: targetType,
      target_id: targetId,
      details: JSON.stringify(details),
      request_id: requestId,
      // The order of entries is the order they were written in, also within one transaction and one millisecond.
      created_at: sql<Date>`clock_timestamp()`,
    })
    .execute();
}

import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../db/database.ts';
import { afterCommit } from '../../db/transaction.ts';
import { deliveriesStored } from '../../events/stored.ts';
import type { WorkspaceId } from '../../ids.ts';

/** SQL: since when the workspace is deleted or suspended; null when it is neither. */
export const silencedSince = (workspaceId: WorkspaceId): RawBuilder<Date | null> => sql`
  (SELECT LEAST(w.deleted_at, w.suspended_at) FROM workspaces AS w WHERE w.id = ${workspaceId})`;

/**
 * Makes the workspace's endpoints, 100 at most, silent while it is deleted or suspended, and no others: a claim of
 * deliveries then reads nothing of workspaces. Called in each transaction that changes this.
 */
export async function updateSilence(tx: Tx, workspaceId: WorkspaceId): Promise<void> {
  await sql`
    UPDATE webhook_endpoints SET silenced_at = ${silencedSince(workspaceId)}
    WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL
      AND silenced_at IS DISTINCT FROM ${silencedSince(workspaceId)}`.execute(tx);
  afterCommit(tx, deliveriesStored.notify);
}

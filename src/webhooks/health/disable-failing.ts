import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { Database, Tx } from '../../db/database.ts';
import { afterCommit, inTransaction } from '../../db/transaction.ts';
import { deliveriesStored } from '../../events/stored.ts';
import type { EndpointId, WorkspaceId } from '../../ids.ts';
import { isHeard, isLiving } from '../deliveries/states.ts';
import { receiverOf } from '../endpoints/queries.ts';

/** When an endpoint is disabled (contract.md W70). */
const FAILED_DELIVERIES = 20;
export const FAILING_HOURS = 120;

/** Endpoints that one look disables at most; the next one takes the others. */
const MAX_DISABLED = 1_000;

/** An endpoint that was disabled. */
export interface Disabled {
  readonly endpointId: EndpointId;
  readonly workspaceId: WorkspaceId;
}

/** SQL over a row of `webhook_health` called `health`. */
const isHopeless = sql<boolean>`health.failed >= ${FAILED_DELIVERIES}
  AND health.failing_since <= now() - make_interval(hours => ${FAILING_HOURS})`;

/**
 * Disables the endpoints to which nothing was delivered for five days while twenty deliveries ended failed, each in a
 * transaction with its audit entry. Relays end what waits. Paused ones and those of silent workspaces stay. Safe beside
 * other processes that do the same.
 */
export async function disableFailing(db: Database): Promise<Disabled[]> {
  const { rows } = await sql<{ id: EndpointId }>`
    SELECT endpoint_id AS id FROM webhook_health AS health
    JOIN webhook_endpoints AS endpoint ON endpoint.id = endpoint_id AND endpoint.active AND ${isLiving} AND ${isHeard}
    WHERE ${isHopeless} ORDER BY failing_since LIMIT ${MAX_DISABLED}`.execute(db);
  const disabled: Disabled[] = [];
  for (const { id } of rows) {
    const workspaceId = await disable(db, id);
    if (workspaceId !== null) disabled.push({ endpointId: id, workspaceId });
  }
  return disabled;
}

const disable = (db: Database, id: EndpointId): Promise<WorkspaceId | null> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql<{ workspaceId: WorkspaceId; url: string; since: Date; failed: number }>`
      UPDATE webhook_endpoints AS endpoint SET active = false, disabled_for = 'failing'
      FROM webhook_health AS health
      WHERE endpoint.id = ${id} AND health.endpoint_id = endpoint.id AND endpoint.active AND ${isLiving}
        AND ${isHeard} AND ${isHopeless}
      RETURNING endpoint.workspace_id AS "workspaceId", endpoint.url, health.failing_since AS since, health.failed`.execute(
      tx,
    );
    const [row] = rows;
    if (row === undefined) return null;
    const actor = { kind: 'system', workspaceId: row.workspaceId } as const;
    await recordAudit(
      tx,
      { actor, requestId: randomUUID() },
      {
        action: 'webhooks.disabled',
        targetType: 'webhook_endpoint',
        targetId: id,
        details: { host: receiverOf(row.url), reason: 'failing', since: row.since, failed: row.failed },
      },
    );
    afterCommit(tx, deliveriesStored.notify);
    return row.workspaceId;
  });

/** For a transaction that enables an endpoint: what has failed so far counts no more. */
export async function beginAnew(tx: Tx, id: EndpointId): Promise<void> {
  await tx
    .updateTable('webhook_health')
    .set({ failing_since: null, failed: 0 })
    .where('endpoint_id', '=', id)
    .execute();
}

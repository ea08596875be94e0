import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Tx } from '../../db/database.ts';
import { afterCommit, inTransaction } from '../../db/transaction.ts';
import { deliveriesStored } from '../../events/stored.ts';
import type { EndpointId } from '../../ids.ts';
import { beginAnew } from '../health/disable-failing.ts';
import { endpointDisabled } from './queries.ts';
import { type ShownEndpoint, selectEndpoint } from './show.ts';

const audit = (tx: Tx, context: VerbContext, action: string, endpointId: EndpointId) =>
  recordAudit(tx, context, { action, targetType: 'webhook_endpoint', targetId: endpointId });

/**
 * Pauses an endpoint (contract.md W63): nothing more is sent to it, events go on queueing. Pausing a paused one changes
 * nothing.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, or CONFLICT `endpoint_disabled`
 */
export async function pauseEndpoint(context: VerbContext, endpointId: EndpointId): Promise<ShownEndpoint> {
  const { db, actor } = context;
  requirePermissions(actor, 'integrations.create');
  return inTransaction(db, async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('webhook_endpoints')
      .set((eb) => ({ paused_at: eb.fn<Date>('now') }))
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', endpointId)
      .where('deleted_at', 'is', null)
      .where('active', '=', true)
      .where('paused_at', 'is', null)
      .executeTakeFirst();
    const endpoint = await selectEndpoint(tx, actor.workspaceId, endpointId);
    if (!endpoint.active) throw endpointDisabled();
    if (numUpdatedRows > 0n) await audit(tx, context, 'webhooks.paused', endpointId);
    return endpoint;
  });
}

/**
 * Ends a pause, or enables an endpoint that was disabled for failing (contract.md W63 and W64): what waits is sent.
 * Resuming any other active one changes nothing.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, or CONFLICT `endpoint_disabled` when the operator has disabled it
 */
export async function resumeEndpoint(context: VerbContext, endpointId: EndpointId): Promise<ShownEndpoint> {
  const { db, actor } = context;
  requirePermissions(actor, 'integrations.create');
  return inTransaction(db, async (tx) => {
    const { rows } = await sql<{ wasActive: boolean }>`
      UPDATE webhook_endpoints SET paused_at = NULL, active = true, disabled_for = NULL
      WHERE workspace_id = ${actor.workspaceId} AND id = ${endpointId} AND deleted_at IS NULL
        AND (paused_at IS NOT NULL OR disabled_for = 'failing')
      RETURNING old.active AS "wasActive"`.execute(tx);
    const endpoint = await selectEndpoint(tx, actor.workspaceId, endpointId);
    if (!endpoint.active) throw endpointDisabled();
    const [resumed] = rows;
    if (resumed !== undefined) {
      if (!resumed.wasActive) await beginAnew(tx, endpointId);
      await audit(tx, context, resumed.wasActive ? 'webhooks.resumed' : 'webhooks.enabled', endpointId);
      afterCommit(tx, deliveriesStored.notify);
    }
    return endpoint;
  });
}

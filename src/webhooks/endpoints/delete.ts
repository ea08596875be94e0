import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { EndpointId } from '../../ids.ts';
import { noSuchEndpoint, receiverOf } from './queries.ts';
import type { RunCanceller } from './run-canceller.ts';

/** Far more than the 20 or so that an endpoint has in runs. */
const MAX_RUNS = 1_000;

/**
 * Deletes an endpoint with its delivery log, waiting deliveries included (contract.md W5), in one short transaction,
 * whatever is stored for it. From its commit on the endpoint is not shown and sends nothing, except attempts already
 * begun. `reconcile` removes the rows. Open runs are cancelled afterwards, which only saves work.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for an unknown or foreign endpoint
 */
export async function deleteEndpoint(
  context: VerbContext & { readonly runCanceller: Pick<RunCanceller, 'cancel'> },
  endpointId: EndpointId,
): Promise<void> {
  const { db, actor, runCanceller } = context;
  requirePermissions(actor, 'integrations.delete');
  await inTransaction(db, async (tx) => {
    const endpoint = await tx
      .updateTable('webhook_endpoints')
      .set((eb) => ({ deleted_at: eb.fn<Date>('now'), secret: '' }))
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', endpointId)
      .where('deleted_at', 'is', null)
      .returning('url')
      .executeTakeFirstOrThrow(noSuchEndpoint);
    await recordAudit(tx, context, {
      action: 'webhooks.deleted',
      targetType: 'webhook_endpoint',
      targetId: endpointId,
      details: { host: receiverOf(endpoint.url) },
    });
  });
  const runs = await db
    .selectFrom('webhook_open')
    .select('id')
    .where('endpoint_id', '=', endpointId)
    .where('in_run', '=', true)
    .orderBy('due_at')
    .limit(MAX_RUNS)
    .execute();
  runCanceller.cancel(runs.map(({ id }) => id));
}

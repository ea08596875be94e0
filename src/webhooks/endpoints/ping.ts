import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Queryable } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type DeliveryId, type EndpointId, newId, type WorkspaceId } from '../../ids.ts';
import { ENDPOINT_DELETED, ENDPOINT_DISABLED } from '../deliveries/states.ts';
import type { PingResult } from '../schemas.ts';
import { classify, errorMessage } from '../sending/outcome.ts';
import type { WebhookSender } from '../sending/sender.ts';
import { deliveryHeaders } from '../sending/signature.ts';
import { endpointDisabled, noSuchEndpoint, receiverOf } from './queries.ts';

/** Not part of the catalog: receivers acknowledge names they do not know. */
const PING = 'ping';

const selectReceiver = (db: Queryable, workspaceId: WorkspaceId, endpointId: EndpointId) =>
  db
    .selectFrom('webhook_endpoints')
    .select(['url', 'secret', 'active'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', endpointId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();

/**
 * Sends `ping` once, the way every delivery goes, and returns the outcome: address guard, redirects,
 * timeout and signature are the same, but nothing is logged as a delivery and nothing is retried. The audit
 * entry is written before, so that no request to a receiver goes unnoticed.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, or CONFLICT `endpoint_disabled`; nothing was sent then
 */
export async function pingEndpoint(
  context: VerbContext & { readonly sender: WebhookSender },
  endpointId: EndpointId,
): Promise<PingResult> {
  const { db, actor, sender } = context;
  requirePermissions(actor, 'integrations.create');
  const { workspaceId } = actor;
  const deliveryId = newId<DeliveryId>();
  const url = await inTransaction(db, async (tx) => {
    const receiver = await selectReceiver(tx, workspaceId, endpointId);
    if (receiver === undefined) throw noSuchEndpoint();
    if (!receiver.active) throw endpointDisabled();
    await recordAudit(tx, context, {
      action: 'webhooks.tested',
      targetType: 'webhook_endpoint',
      targetId: endpointId,
      details: { host: receiverOf(receiver.url), deliveryId },
    });
    return receiver.url;
  });
  const body = Buffer.from(JSON.stringify({ event: PING, data: { endpointId, workspaceId } }));
  const sent = await sender.send({
    url,
    body,
    beforeWrite: async () => {
      // Read again: the endpoint may have gone while the connection was made.
      const receiver = await selectReceiver(db, workspaceId, endpointId);
      if (receiver === undefined) return { proceed: false, reason: ENDPOINT_DELETED };
      if (!receiver.active) return { proceed: false, reason: ENDPOINT_DISABLED };
      const { secret } = receiver;
      const headers = deliveryHeaders({ secret, deliveryId, eventType: PING, body, now: new Date() });
      return { proceed: true, headers };
    },
  });
  if (sent.kind === 'stopped')
    throw sent.reason === ENDPOINT_DISABLED ? endpointDisabled() : noSuchEndpoint();
  return {
    delivered: classify(sent) === 'succeeded',
    responseStatus: sent.kind === 'responded' ? sent.status : null,
    errorMessage: errorMessage(sent),
    durationMs: Math.round(sent.durationMs),
    responseBody: sent.kind === 'responded' ? sent.bodyText : null,
  };
}

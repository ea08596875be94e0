import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Queryable } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import { ServiceError } from '../../errors.ts';
import type { EventType } from '../../events/catalog.ts';
import { EVENT_EXAMPLES } from '../../events/examples.ts';
import { createFairQueue } from '../../fair-queue.ts';
import { type DeliveryId, type EndpointId, type EventId, newId } from '../../ids.ts';
import { type Signing, sendSigned } from '../attempts/attempt.ts';
import { ENDPOINT_DELETED, ENDPOINT_DISABLED } from '../deliveries/states.ts';
import type { PingResult } from '../schemas.ts';
import { unreadableSecret } from '../secrets/credentials.ts';
import { attempted } from '../sending/outcome.ts';
import { endpointDisabled, livingEndpoint, noSuchEndpoint, receiverOf } from './queries.ts';

type PingContext = VerbContext & Signing;

/** Not part of the catalog: receivers acknowledge names they do not know. */
const PING = 'ping';

/** Pings in flight of a workspace in this process: as many as a hanging receiver has deliveries. */
const queue = createFairQueue({
  total: 200,
  perOwner: 20,
  maxWaiting: 20,
  refusal: () =>
    new ServiceError('RATE_LIMITED', 'Too many pings of this workspace are in flight.', { retryAfter: 15 }),
});
const WAIT_MS = 2_000;

/**
 * Sends `ping`, or an example of an event, once, like a delivery (address guard, redirects, timeout, signature), and returns the outcome. It is
 * neither logged nor retried. The audit entry is written first, so that every request to a receiver is on record.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, CONFLICT `endpoint_disabled`, RATE_LIMITED, or SERVICE_UNAVAILABLE when the
 *   endpoint's secret can't be read; nothing was sent then
 */
export async function pingEndpoint(
  context: PingContext,
  endpointId: EndpointId,
  example: EventType | undefined,
): Promise<PingResult> {
  requirePermissions(context.actor, 'integrations.create');
  const release = await queue.take(context.actor.workspaceId, { waitMs: WAIT_MS });
  return ping(context, endpointId, example).finally(release);
}

async function ping(
  context: PingContext,
  endpointId: EndpointId,
  example: EventType | undefined,
): Promise<PingResult> {
  const { db, actor } = context;
  const { workspaceId } = actor;
  const deliveryId = newId<DeliveryId>();
  const receiverIn = (queryable: Queryable) =>
    livingEndpoint(queryable, workspaceId, endpointId).select(['url', 'secret', 'active']);
  const url = await inTransaction(db, async (tx) => {
    const receiver = await receiverIn(tx).executeTakeFirstOrThrow(noSuchEndpoint);
    if (!receiver.active) throw endpointDisabled();
    await recordAudit(tx, context, {
      action: 'webhooks.tested',
      targetType: 'webhook_endpoint',
      targetId: endpointId,
      details: { host: receiverOf(receiver.url), deliveryId, ...(example && { event: example }) },
    });
    return receiver.url;
  });
  const eventType = example ?? PING;
  const data = example === undefined ? { endpointId, workspaceId } : EVENT_EXAMPLES[example];
  const body = Buffer.from(JSON.stringify({ event: eventType, data }));
  const eventId = newId<EventId>();
  const request = { eventId, deliveryId, endpointId, eventType, url, body };
  const sent = await sendSigned(context, request, async () => {
    // Read again: the endpoint may have been deleted during the dial.
    const receiver = await receiverIn(db).executeTakeFirst();
    if (receiver === undefined) return { kind: 'stopped', reason: ENDPOINT_DELETED };
    if (!receiver.active) return { kind: 'stopped', reason: ENDPOINT_DISABLED };
    return { kind: 'begun', stored: receiver.secret };
  });
  if (sent.kind === 'unreadable') throw unreadableSecret();
  if (sent.kind === 'stopped') {
    throw sent.reason === ENDPOINT_DISABLED ? endpointDisabled() : noSuchEndpoint();
  }
  const { verdict, ...result } = attempted(sent);
  return { delivered: verdict === 'succeeded', ...result };
}

import { randomUUID } from 'node:crypto';
import type { DeliveryId } from '../../ids.ts';
import type { AttemptRecord } from '../../temporal/shapes.ts';
import type { AttemptStart, Begun } from '../deliveries/begin.ts';
import { classify, errorMessage, type SendOutcome } from '../sending/outcome.ts';
import type { WebhookSender } from '../sending/sender.ts';
import { deliveryHeaders } from '../sending/signature.ts';

/** A request to a receiver that is signed at the last moment. */
export interface SignedRequest {
  readonly deliveryId: DeliveryId;
  readonly eventType: string;
  readonly url: string;
  /** The bytes that are signed and sent. */
  readonly body: Buffer;
  /** Gives the attempt up. */
  readonly signal?: AbortSignal;
}

/** Whether a request may be written, asked right before the first one and before that of every redirect. */
type LastLook = () => Promise<{ readonly secret: string } | { readonly reason: string }>;

/** Signs and sends: the way of every request to a receiver. */
export const sendSigned = (
  sender: WebhookSender,
  { deliveryId, eventType, url, body, signal }: SignedRequest,
  lastLook: LastLook,
): Promise<SendOutcome> =>
  sender.send({
    url,
    body,
    ...(signal === undefined ? {} : { signal }),
    async beforeWrite() {
      const look = await lastLook();
      if ('reason' in look) return { proceed: false, reason: look.reason };
      const { secret } = look;
      return {
        proceed: true,
        headers: deliveryHeaders({ secret, deliveryId, eventType, body, now: new Date() }),
      };
    },
  });

export type AttemptResult =
  | { readonly kind: 'made'; readonly record: AttemptRecord }
  /** Nothing was sent; see {@link Begun}. */
  | { readonly kind: 'stopped'; readonly reason: string }
  | { readonly kind: 'superseded' };

/**
 * One attempt of a delivery, whoever has it: dials, begins, signs, sends. What became of it is the caller's to record.
 * @param begin the last statement before each request; it passes for every redirect of the attempt that it began
 * @param token when the attempt has one already
 * @throws an error of `begin`, or the reason of the signal
 */
export async function makeAttempt(
  sender: WebhookSender,
  request: SignedRequest,
  number: number,
  begin: (start: AttemptStart) => Promise<Begun>,
  token: string = randomUUID(),
): Promise<AttemptResult> {
  const start = { deliveryId: request.deliveryId, number, token };
  const startedAt = new Date().toISOString();
  let begun: Begun | undefined;
  const sent = await sendSigned(sender, request, async () => {
    begun = await begin(start);
    if (begun.kind === 'begun') return begun;
    return { reason: begun.kind === 'stopped' ? begun.reason : begun.kind };
  });
  // One that found nobody to send to is an attempt as well: of who has the delivery, and of an active endpoint.
  begun ??= await begin(start);
  if (begun.kind !== 'begun') return begun;
  if (sent.kind === 'stopped') return { kind: 'stopped', reason: sent.reason };
  const responded = sent.kind === 'responded' ? sent : null;
  return {
    kind: 'made',
    record: {
      number,
      token: start.token,
      startedAt,
      durationMs: Math.round(sent.durationMs),
      verdict: classify(sent),
      responseStatus: responded?.status ?? null,
      errorMessage: errorMessage(sent),
      responseBody: responded?.bodyText ?? null,
    },
  };
}

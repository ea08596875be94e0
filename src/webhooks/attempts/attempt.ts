import { randomUUID } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import type { DeliveryId } from '../../ids.ts';
import type { AttemptRecord } from '../../temporal/shapes.ts';
import type { AttemptStart, Begun } from '../deliveries/begin.ts';
import { attempted, type SendOutcome } from '../sending/outcome.ts';
import type { WebhookSender } from '../sending/sender.ts';
import { deliveryHeaders } from '../sending/signature.ts';

/** What makes attempts, in runs or in bursts. */
export interface AttemptDependencies {
  readonly db: Database;
  readonly sender: WebhookSender;
  readonly onAttemptBegan: (number: number, createdAt: Date) => void;
  readonly onAttemptEnded: (verdict: AttemptRecord['verdict'], number: number) => void;
}

/** A request to a receiver that is signed at the last moment. */
export interface SignedRequest {
  readonly deliveryId: DeliveryId;
  readonly eventType: string;
  readonly url: string;
  /** The bytes that are signed and sent. */
  readonly body: Buffer;
  /** Gives the attempt up. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Signs and sends: the way of every request to a receiver.
 * @param begin whether a request may be written, asked right before the first one and before that of every redirect
 */
export const sendSigned = (
  sender: WebhookSender,
  { deliveryId, eventType, url, body, signal }: SignedRequest,
  begin: () => Promise<Begun>,
): Promise<SendOutcome> =>
  sender.send({
    url,
    body,
    signal,
    async beforeWrite() {
      const begun = await begin();
      if (begun.kind === 'superseded') return { proceed: false, reason: begun.kind };
      if (begun.kind === 'stopped') return { proceed: false, reason: begun.reason };
      const { secret } = begun;
      const headers = deliveryHeaders({ secret, deliveryId, eventType, body, now: new Date() });
      return { proceed: true, headers };
    },
  });

/** Made, or nothing was sent. */
export type AttemptResult =
  | { readonly kind: 'made'; readonly record: AttemptRecord }
  | Exclude<Begun, { readonly kind: 'begun' }>;

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
    return begun;
  });
  // One that found nobody to send to is an attempt as well: of who has the delivery, and of an active endpoint.
  begun ??= await begin(start);
  if (begun.kind !== 'begun') return begun;
  if (sent.kind === 'stopped') return sent;
  return { kind: 'made', record: { ...attempted(sent), number, token, startedAt } };
}

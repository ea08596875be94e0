import { randomUUID } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import type { DeliveryId } from '../../ids.ts';
import type { AttemptRecord } from '../../temporal/shapes.ts';
import type { AttemptStart, Begun } from '../deliveries/begin.ts';
import { attempted, type SendOutcome } from '../sending/outcome.ts';
import type { WebhookSender } from '../sending/sender.ts';
import { deliveryHeaders } from '../sending/signature.ts';

/** Dependencies of attempts, in runs and in bursts. */
export interface AttemptDependencies {
  readonly db: Database;
  readonly sender: WebhookSender;
  readonly onAttemptBegan: (number: number, createdAt: Date) => void;
  readonly onAttemptEnded: (verdict: AttemptRecord['verdict'], number: number) => void;
}

/** A request to a receiver, signed when it is written. */
export interface SignedRequest {
  readonly deliveryId: DeliveryId;
  readonly eventType: string;
  readonly url: string;
  /** The bytes that are signed and sent. */
  readonly body: Buffer;
  /** Aborts the attempt. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Signs and sends one request to a receiver.
 * @param begin called right before the first request and each redirect; decides whether it may be written
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
      if (begun.kind === 'superseded' || begun.kind === 'silenced')
        return { proceed: false, reason: begun.kind };
      if (begun.kind === 'stopped') return { proceed: false, reason: begun.reason };
      const { secret } = begun;
      const headers = deliveryHeaders({ secret, deliveryId, eventType, body, now: new Date() });
      return { proceed: true, headers };
    },
  });

/** A sent attempt, or nothing was sent. */
export type AttemptResult =
  | { readonly kind: 'made'; readonly record: AttemptRecord }
  | Exclude<Begun, { readonly kind: 'begun' }>;

/**
 * One attempt of a delivery: dials, begins, signs, sends. The caller records the outcome.
 * @param begin the last statement before each request; it passes for every redirect of an attempt that it began
 * @param token the token of an attempt that has already begun
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
  // A failed dial is an attempt too: of the holder, to an active endpoint.
  begun ??= await begin(start);
  if (begun.kind !== 'begun') return begun;
  if (sent.kind === 'stopped') return sent;
  return { kind: 'made', record: { ...attempted(sent), number, token, startedAt } };
}

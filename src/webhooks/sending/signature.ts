import { createHmac } from 'node:crypto';
import type { SigningSecrets } from '../secrets/credentials.ts';

export interface DeliveryHeadersInput {
  /** The endpoint's secrets as returned at registration and rotations: `whsec_` and base64. */
  secrets: SigningSecrets;
  /** The same in every delivery of the event. */
  eventId: string;
  deliveryId: string;
  eventType: string;
  /** The exact bytes that are sent. */
  body: Uint8Array;
  now: Date;
}

const MARKER = 'whsec_';

/** Signs the bytes of a body: `t=<unix seconds>,v1=<hex>` (contract.md D2). The secret's UTF-8 text is the key. */
export function signPayload(secret: string, timestampSeconds: number, rawBody: Uint8Array): string {
  const v1 = createHmac('sha256', secret).update(`${timestampSeconds}.`).update(rawBody).digest('hex');
  return `t=${timestampSeconds},v1=${v1}`;
}

/**
 * Signs an event as Standard Webhooks 1.0 does (contract.md W60): `v1,<base64>`. The key is what the secret's base64
 * stands for.
 */
export function signStandard(
  secret: string,
  eventId: string,
  timestampSeconds: number,
  rawBody: Uint8Array,
): string {
  const encoded = secret.startsWith(MARKER) ? secret.slice(MARKER.length) : secret;
  // As a text: a key given as bytes is made an object of its own, which costs five times as much.
  const hmac = createHmac('sha256', encoded, { encoding: 'base64' });
  return `v1,${hmac.update(`${eventId}.${timestampSeconds}.`).update(rawBody).digest('base64')}`;
}

/** The headers of one attempt (contract.md D1), made for every attempt, so that a retry has a fresh signature (D3). */
export function deliveryHeaders(input: DeliveryHeadersInput): Record<string, string> {
  const { secrets, eventId, body } = input;
  const seconds = Math.floor(input.now.getTime() / 1_000);
  return {
    'content-type': 'application/json',
    'x-service-signature': signPayload(secrets.service, seconds, body),
    'x-service-timestamp': String(seconds),
    'x-service-event': input.eventType,
    'x-service-delivery': input.deliveryId,
    'webhook-id': eventId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': secrets.standard
      .map((secret) => signStandard(secret, eventId, seconds, body))
      .join(' '),
  };
}

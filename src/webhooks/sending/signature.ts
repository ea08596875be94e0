import { createHmac } from 'node:crypto';

export interface DeliveryHeadersInput {
  /** The endpoint's secret as returned at registration; its UTF-8 text is the key. */
  secret: string;
  deliveryId: string;
  eventType: string;
  /** The exact bytes that are sent. */
  body: Uint8Array;
  now: Date;
}

/** Signs the bytes of a body: `t=<unix seconds>,v1=<hex>` (contract.md D2). */
export function signPayload(secret: string, timestampSeconds: number, rawBody: Uint8Array): string {
  const v1 = createHmac('sha256', secret).update(`${timestampSeconds}.`).update(rawBody).digest('hex');
  return `t=${timestampSeconds},v1=${v1}`;
}

/** The headers of one attempt (contract.md D1), made for every attempt, so that a retry has a fresh signature (D3). */
export function deliveryHeaders(input: DeliveryHeadersInput): Record<string, string> {
  const seconds = Math.floor(input.now.getTime() / 1_000);
  return {
    'content-type': 'application/json',
    'x-service-signature': signPayload(input.secret, seconds, input.body),
    'x-service-timestamp': String(seconds),
    'x-service-event': input.eventType,
    'x-service-delivery': input.deliveryId,
  };
}

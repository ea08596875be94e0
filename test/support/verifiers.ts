import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import type { Received } from './receiver.ts';

/** Checks of a request by receivers that others wrote. Each throws when it would refuse the request. */

/** By Stripe's library, which reads a header of the form of x-service-signature, and by our own sample. */
export function verifyServiceSignature({ raw, headers }: Received, secret: string): void {
  Stripe.webhooks.constructEvent(raw, headers['x-service-signature'] ?? '', secret);
  verifyWebhook(raw, headers, secret);
}

/** By the library of Standard Webhooks. */
export function verifyStandardSignature({ raw, headers }: Received, secret: string): void {
  new Webhook(secret).verify(raw, headers);
}

/** Whether a check accepts. */
export function accepts(check: typeof verifyServiceSignature, request: Received, secret: string): boolean {
  try {
    check(request, secret);
    return true;
  } catch {
    return false;
  }
}

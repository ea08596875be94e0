import { onTestFinished } from 'vitest';
import { parseNetworks } from '../../../../src/networks.ts';
import { type AddressGuard, createAddressGuard } from '../../../../src/outbound/resolver.ts';
import type { NoResponse, Responded, SendOutcome } from '../../../../src/webhooks/sending/outcome.ts';
import {
  createWebhookSender,
  type SendRequest,
  type WebhookSender,
} from '../../../../src/webhooks/sending/sender.ts';
import type { Zone } from './dns-server.ts';
import { startDnsServer, type TestDnsServer } from './dns-server.ts';

export const BODY = Buffer.from('{"event":"ping","data":{"text":"naïve – 日本"}}');

/** Closes a test's own server or sender after the test. */
export function closing<T extends { close(): Promise<unknown> }>(resource: T): T {
  onTestFinished(async () => void (await resource.close()));
  return resource;
}

export interface SenderSetup {
  allowed?: string;
  zone?: Zone;
  timeoutMs?: number;
  dnsTimeoutMs?: number;
  ca?: string;
  sendsTraceparent?: boolean;
  /** A guard of the test's own, instead of one from `allowed` and `zone`. */
  guard?: AddressGuard;
}

/** A sender that may reach 127.0.0.1 alone and asks the test's own DNS server. */
export async function setUpSender(
  setup: SenderSetup = {},
): Promise<{ sender: WebhookSender; dns: TestDnsServer }> {
  const { allowed = '127.0.0.1/32', zone = {}, dnsTimeoutMs = 1_000, ...options } = setup;
  const dns = closing(await startDnsServer(zone));
  const guard = createAddressGuard({
    allowedNetworks: parseNetworks(allowed),
    dnsServers: dns.servers,
    dnsTimeoutMs,
  });
  return { sender: closing(createWebhookSender({ guard, timeoutMs: 3_000, ...options })), dns };
}

export function post(
  sender: WebhookSender,
  url: string,
  more: Partial<SendRequest> = {},
): Promise<SendOutcome> {
  return sender.send({
    url,
    body: BODY,
    beforeWrite: async () => ({ proceed: true, headers: { 'x-service-signature': 'fresh' } }),
    ...more,
  });
}

export async function expectResponded(outcome: Promise<SendOutcome>): Promise<Responded> {
  const settled = await outcome;
  if (settled.kind !== 'responded') throw new Error(`expected a response: ${JSON.stringify(settled)}`);
  return settled;
}

export async function expectNoResponse(outcome: Promise<SendOutcome>): Promise<NoResponse> {
  const settled = await outcome;
  if (settled.kind !== 'no-response') throw new Error(`expected no response: ${JSON.stringify(settled)}`);
  return settled;
}

/** Waits until a condition holds; fails after half a minute. */
export async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error('the condition never held');
    await new Promise((next) => setTimeout(next, 10));
  }
}

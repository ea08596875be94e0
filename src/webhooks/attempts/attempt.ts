import { randomUUID } from 'node:crypto';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Database } from '../../db/database.ts';
import type { DeliveryId, EndpointId, EventId } from '../../ids.ts';
import type { AttemptRecord } from '../../temporal/shapes.ts';
import { traced } from '../../tracing/spans.ts';
import type { AttemptStart, Begun } from '../deliveries/begin.ts';
import type { AttemptEnd } from '../health/figures.ts';
import type { Paces } from '../pace/paces.ts';
import { type Credentials, fromText, secretsAt } from '../secrets/credentials.ts';
import type { SecretRing } from '../secrets/ring.ts';
import { attempted, type SendOutcome } from '../sending/outcome.ts';
import { type AskedSilence, askedSilence } from '../sending/retry-after.ts';
import type { WebhookSender } from '../sending/sender.ts';
import { deliveryHeaders } from '../sending/signature.ts';

/** What signs and sends requests to receivers. */
export interface Signing {
  readonly sender: WebhookSender;
  readonly secrets: Pick<SecretRing, 'decrypt'>;
}

/** Dependencies of attempts, in runs and in bursts. */
export interface AttemptDependencies extends Signing {
  readonly db: Database;
  /** Called when an attempt has begun and no key here decrypts the endpoint's secret. */
  readonly onUnreadable: (endpointId: EndpointId, stored: string) => void;
  readonly onAttemptBegan: (number: number, createdAt: Date) => void;
  readonly onAttemptEnded: (end: AttemptEnd) => void;
  readonly paces: Pick<Paces, 'attemptEnded'>;
}

/** A request to a receiver, signed when it is written. */
export interface SignedRequest {
  readonly eventId: EventId;
  readonly deliveryId: DeliveryId;
  readonly endpointId: EndpointId;
  readonly eventType: string;
  readonly url: string;
  /** The bytes that are signed and sent. */
  readonly body: Buffer;
  /** Aborts the attempt. */
  readonly signal?: AbortSignal | undefined;
}

/** The request of an attempt; `traceparent` is that of what stored the event. */
export type AttemptRequest = SignedRequest & { readonly traceparent: string | null };

/** Nothing was sent, since no key here decrypts `stored`, the endpoint's secret. */
interface Unreadable {
  readonly kind: 'unreadable';
  readonly stored: string;
}

type Signable =
  | { readonly kind: 'begun'; readonly credentials: Credentials }
  | Unreadable
  | Exclude<Begun, { readonly kind: 'begun' }>;

/**
 * Begins before the first request and each redirect, and decrypts the secret once it has begun; all requests of an
 * attempt are signed with what was read then. The clear secret is nowhere but in this process's memory (contract.md W22).
 */
function decrypting(
  { secrets }: Signing,
  { endpointId }: SignedRequest,
  begin: () => Promise<Begun>,
): () => Promise<Signable> {
  let credentials: Credentials | null = null;
  return async () => {
    const begun = await begin();
    if (begun.kind !== 'begun') return begun;
    if (credentials === null) {
      const text = secrets.decrypt(endpointId, begun.stored);
      if (text === null) return { kind: 'unreadable', stored: begun.stored };
      credentials = fromText(text);
    }
    return { kind: 'begun', credentials };
  };
}

const post = (
  { sender }: Signing,
  { eventId, deliveryId, eventType, url, body, signal }: SignedRequest,
  begin: () => Promise<Signable>,
): Promise<SendOutcome> =>
  sender.send({
    url,
    body,
    signal,
    async beforeWrite({ url: to, hop }) {
      const begun = await begin();
      if (begun.kind === 'stopped') return { proceed: false, reason: begun.reason };
      if (begun.kind !== 'begun') return { proceed: false, reason: begun.kind };
      const now = new Date();
      const signing = secretsAt(begun.credentials, now);
      const headers = deliveryHeaders({ secrets: signing, eventId, deliveryId, eventType, body, now });
      // Custom headers may hold credentials of the registered origin.
      const isRegistered = hop === 0 || to.origin === URL.parse(url)?.origin;
      const custom = isRegistered ? begun.credentials.headers : {};
      return { proceed: true, headers: { ...custom, ...headers } };
    },
  });

/**
 * Signs and sends one request to a receiver.
 * @param begin called right before the first request and each redirect; decides whether it may be written
 */
export async function sendSigned(
  signing: Signing,
  request: SignedRequest,
  begin: () => Promise<Begun>,
): Promise<SendOutcome | Unreadable> {
  const ready = decrypting(signing, request, begin);
  let last: Signable | undefined;
  const sent = await post(signing, request, async () => {
    last = await ready();
    return last;
  });
  return last?.kind === 'unreadable' ? last : sent;
}

/** A sent attempt, or nothing was sent; of an unreadable secret with the attempt to take back. */
export type AttemptResult =
  | { readonly kind: 'made'; readonly record: AttemptRecord; readonly silence: AskedSilence | null }
  | (Unreadable & { readonly start: AttemptStart })
  | Exclude<Begun, { readonly kind: 'begun' }>;

/**
 * One attempt of a delivery: dials, begins, decrypts, signs, sends. The caller records the outcome. It is a span of the trace
 * that stored the event (contract.md O2), and names the receiver's host alone.
 * @param begin the last statement before each request; it passes for every redirect of an attempt that it began
 * @param token the token of an attempt that has already begun
 * @throws an error of `begin`, or the reason of the signal
 */
export const makeAttempt = (
  signing: Signing,
  request: AttemptRequest,
  number: number,
  begin: (start: AttemptStart) => Promise<Begun>,
  token: string = randomUUID(),
): Promise<AttemptResult> =>
  traced(
    'webhook attempt',
    {
      kind: SpanKind.CLIENT,
      parent: request.traceparent,
      attributes: {
        'server.address': URL.parse(request.url)?.hostname ?? '',
        'webhook.event_type': request.eventType,
        'webhook.event_id': request.eventId,
        'webhook.delivery_id': request.deliveryId,
        'webhook.endpoint_id': request.endpointId,
        'webhook.attempt': number,
      },
    },
    async (span) => {
      const made = await attempt(signing, request, number, begin, token);
      if (made.kind !== 'made') span.setAttribute('webhook.verdict', made.kind);
      else {
        const { verdict, responseStatus } = made.record;
        span.setAttribute('webhook.verdict', verdict);
        if (responseStatus !== null) span.setAttribute('http.response.status_code', responseStatus);
        if (verdict !== 'succeeded') span.setStatus({ code: SpanStatusCode.ERROR });
      }
      return made;
    },
  );

async function attempt(
  signing: Signing,
  request: SignedRequest,
  number: number,
  begin: (start: AttemptStart) => Promise<Begun>,
  token: string,
): Promise<AttemptResult> {
  const start = { deliveryId: request.deliveryId, number, token };
  const startedAt = new Date().toISOString();
  const ready = decrypting(signing, request, () => begin(start));
  let begun: Signable | undefined;
  const sent = await post(signing, request, async () => {
    begun = await ready();
    return begun;
  });
  // A failed dial is an attempt too: of the holder, to an active endpoint with a secret to sign with.
  begun ??= await ready();
  if (begun.kind === 'unreadable') return { ...begun, start };
  if (begun.kind !== 'begun') return begun;
  if (sent.kind === 'stopped') return sent;
  const record = { ...attempted(sent), number, token, startedAt };
  return { kind: 'made', record, silence: askedSilence(sent) };
}

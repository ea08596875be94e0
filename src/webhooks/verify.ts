/* For receivers of webhooks. This file needs only Node, so that it can be copied into a receiver as it is. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export type WebhookVerificationCode =
  | 'missing_header'
  | 'repeated_header'
  | 'malformed_header'
  | 'timestamp_out_of_range'
  | 'signature_mismatch'
  | 'malformed_body';

/** A request that is not a genuine, fresh delivery. Respond with 400 and do nothing else. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookVerificationCode;

  constructor(code: WebhookVerificationCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The headers of a request: those of fetch, or a record such as Node's `request.headers`. Names in any case. */
export type ReceivedHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** The receiver's clock; the machine's when omitted. */
  now?: Date;
  /** Seconds a signature may be old, or ahead of the receiver's clock. */
  toleranceSeconds?: number;
}

export interface VerifiedWebhook {
  /** The event name of the signed body. Acknowledge names you do not know with 2xx. */
  event: string;
  data: Record<string, unknown>;
  /** Equal on every attempt of one delivery: deduplicate on it. Null when the header is absent. */
  deliveryId: string | null;
  /** The signature's time in unix seconds. */
  timestamp: number;
}

/** Such a delivery, verified by the headers of Standard Webhooks. */
export interface VerifiedStandardWebhook extends VerifiedWebhook {
  /** Equal in every delivery and redelivery of one event, for each of your endpoints: deduplicate on it. */
  eventId: string;
}

/** The secret, or during a rotation the new and the old one: one of them has to fit. */
export type Secrets = string | readonly string[];

const SIGNATURE_HEADER = 'x-service-signature';
const STANDARD_SIGNATURE_HEADER = 'webhook-signature';
const TIMESTAMP = /^(0|[1-9][0-9]{0,14})$/;

/**
 * Verifies a delivery by x-service-signature (contract.md D2 to D5) and returns its content.
 *
 * @param rawBody the body exactly as received, before any JSON parsing; text counts as UTF-8.
 * @param secrets exactly as returned at registration or rotation (`whsec_…` included).
 * @throws WebhookVerificationError with a code; TypeError when it is called without a raw body or a secret.
 */
export function verifyWebhook(
  rawBody: Uint8Array | string,
  headers: ReceivedHeaders,
  secrets: Secrets,
  options: VerifyOptions = {},
): VerifiedWebhook {
  const keys = keysOf(rawBody, secrets);
  const signatureHeader = headerValue(headers, SIGNATURE_HEADER);
  if (signatureHeader === null)
    throw new WebhookVerificationError('missing_header', 'No x-service-signature');
  const { t, v1 } = parseSignature(signatureHeader);
  const timestampHeader = headerValue(headers, 'x-service-timestamp');
  if (timestampHeader !== null && timestampHeader !== t) {
    throw new WebhookVerificationError('malformed_header', 'x-service-timestamp differs from t');
  }
  requireMatch(keys, `${t}.`, rawBody, [Buffer.from(v1, 'hex')]);
  requireFresh(t, options);
  return { ...readBody(rawBody, headers), timestamp: Number(t) };
}

/**
 * Verifies a delivery by the headers of Standard Webhooks (contract.md W60 and W61) and returns its content. It accepts the new
 * secret as soon as a rotation begins, and the old one until the overlap ends. Parameters and errors as `verifyWebhook`.
 */
export function verifyStandardWebhook(
  rawBody: Uint8Array | string,
  headers: ReceivedHeaders,
  secrets: Secrets,
  options: VerifyOptions = {},
): VerifiedStandardWebhook {
  const keys = keysOf(rawBody, secrets).map((secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  const [eventId, t, signatures] = ['webhook-id', 'webhook-timestamp', STANDARD_SIGNATURE_HEADER].map(
    (name) => headerValue(headers, name),
  );
  if (!eventId || !t || !signatures) {
    throw new WebhookVerificationError('missing_header', 'No webhook-id, -timestamp or -signature');
  }
  if (!TIMESTAMP.test(t)) {
    throw new WebhookVerificationError('malformed_header', 'webhook-timestamp is not a time');
  }
  requireMatch(keys, `${eventId}.${t}.`, rawBody, parseStandardSignatures(signatures));
  requireFresh(t, options);
  return { ...readBody(rawBody, headers), timestamp: Number(t), eventId };
}

function keysOf(rawBody: Uint8Array | string, secrets: Secrets): string[] {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    throw new TypeError('A verification needs the raw body as bytes or text, not parsed JSON');
  }
  const keys = typeof secrets === 'string' ? [secrets] : Array.isArray(secrets) ? [...secrets] : [];
  if (keys.length === 0 || keys.some((key) => typeof key !== 'string' || key === '')) {
    throw new TypeError('A verification needs the secret');
  }
  return keys;
}

function requireMatch(
  keys: readonly (string | Buffer)[],
  start: string,
  rawBody: Uint8Array | string,
  signatures: readonly Buffer[],
): void {
  const expected = keys.map((key) => createHmac('sha256', key).update(start).update(rawBody).digest());
  const isOurs = (signature: Buffer) =>
    expected.some((digest) => digest.length === signature.length && timingSafeEqual(digest, signature));
  if (!signatures.some(isOurs)) {
    throw new WebhookVerificationError('signature_mismatch', 'The signature does not match the raw body');
  }
}

function requireFresh(t: string, { now = new Date(), toleranceSeconds = 300 }: VerifyOptions): void {
  if (Math.abs(Math.floor(now.getTime() / 1_000) - Number(t)) <= toleranceSeconds) return;
  const message = `The signature is more than ${toleranceSeconds} seconds away from now`;
  throw new WebhookVerificationError('timestamp_out_of_range', message);
}

function readBody(
  rawBody: Uint8Array | string,
  headers: ReceivedHeaders,
): Pick<VerifiedWebhook, 'event' | 'data' | 'deliveryId'> {
  const eventHeader = headerValue(headers, 'x-service-event');
  const deliveryId = headerValue(headers, 'x-service-delivery');
  const { event, data } = parseBody(rawBody);
  if (eventHeader !== null && eventHeader !== event) {
    throw new WebhookVerificationError('malformed_header', 'x-service-event differs from the body');
  }
  return { event, data, deliveryId };
}

/** The one value of a header, null when it is absent. A record may spell one name in two cases. */
function headerValue(headers: ReceivedHeaders, name: string): string | null {
  const [value, ...others] = valuesOf(headers, name);
  // Node and fetch join repeated lines with a comma, which only signatures may hold.
  const isSignature = name === SIGNATURE_HEADER || name === STANDARD_SIGNATURE_HEADER;
  const isJoined = !isSignature && value?.includes(',') === true;
  if (others.length > 0 || isJoined) {
    throw new WebhookVerificationError('repeated_header', `${name} occurs more than once`);
  }
  return value ?? null;
}

function valuesOf(headers: ReceivedHeaders, name: string): readonly string[] {
  if (isFetchHeaders(headers)) {
    const value = headers.get(name);
    return value === null ? [] : [value];
  }
  const entries = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  return entries.flatMap(([, value]) => value ?? []);
}

function isFetchHeaders(headers: ReceivedHeaders): headers is Headers {
  return typeof headers.get === 'function';
}

/** Reads `t=<unix seconds>,v1=<64 lower-case hex digits>`, strictly. Well-formed fields of other names are ignored. */
function parseSignature(header: string): { t: string; v1: string } {
  const fields = new Map<string, string>();
  for (const field of header.split(',')) {
    const [, name, value] = /^([a-z][a-z0-9]*)=(\S+)$/.exec(field) ?? [];
    if (name === undefined || value === undefined) throw malformedSignature();
    if (fields.has(name)) {
      throw new WebhookVerificationError('repeated_header', `x-service-signature has ${name} twice`);
    }
    fields.set(name, value);
  }
  const t = fields.get('t') ?? '';
  const v1 = fields.get('v1') ?? '';
  if (!TIMESTAMP.test(t) || !/^[0-9a-f]{64}$/.test(v1)) throw malformedSignature();
  return { t, v1 };
}

/** Reads `v1,<base64>`, one or more parted by a space, strictly. Those of other versions are ignored. */
function parseStandardSignatures(header: string): Buffer[] {
  return header.split(' ').flatMap((entry) => {
    const [, version, base64] = /^(v[0-9]+[a-z]?),([A-Za-z0-9+/]+={0,2})$/.exec(entry) ?? [];
    if (version === undefined || base64 === undefined) {
      throw new WebhookVerificationError('malformed_header', 'webhook-signature is not v1,<base64>');
    }
    return version === 'v1' ? [Buffer.from(base64, 'base64')] : [];
  });
}

function malformedSignature(): WebhookVerificationError {
  return new WebhookVerificationError('malformed_header', 'x-service-signature is not t=<seconds>,v1=<hex>');
}

function parseBody(rawBody: Uint8Array | string): { event: string; data: Record<string, unknown> } {
  try {
    const text =
      typeof rawBody === 'string' ? rawBody : new TextDecoder('utf-8', { fatal: true }).decode(rawBody);
    const { event, data } = JSON.parse(text);
    if (typeof event === 'string' && typeof data === 'object' && data !== null && !Array.isArray(data)) {
      return { event, data };
    }
  } catch {
    // Neither UTF-8 nor JSON, or null.
  }
  throw new WebhookVerificationError('malformed_body', 'The body is not { event, data }');
}

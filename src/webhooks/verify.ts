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

const SIGNATURE_HEADER = 'x-service-signature';

/**
 * Verifies a delivery (contract.md D2 to D5) and returns its content.
 *
 * @param rawBody the body exactly as received, before any JSON parsing; text counts as UTF-8.
 * @param secret the secret exactly as returned at registration (`whsec_…` included).
 * @throws WebhookVerificationError with a code; TypeError when it is called without a raw body or a secret.
 */
export function verifyWebhook(
  rawBody: Uint8Array | string,
  headers: ReceivedHeaders,
  secret: string,
  options: VerifyOptions = {},
): VerifiedWebhook {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    throw new TypeError('verifyWebhook needs the raw body as bytes or text, not parsed JSON');
  }
  if (typeof secret !== 'string' || secret === '') throw new TypeError('verifyWebhook needs the secret');
  const { now = new Date(), toleranceSeconds = 300 } = options;

  const signatureHeader = headerValue(headers, SIGNATURE_HEADER);
  if (signatureHeader === null)
    throw new WebhookVerificationError('missing_header', 'No x-service-signature');
  const { t, v1 } = parseSignature(signatureHeader);
  const timestampHeader = headerValue(headers, 'x-service-timestamp');
  if (timestampHeader !== null && timestampHeader !== t) {
    throw new WebhookVerificationError('malformed_header', 'x-service-timestamp differs from t');
  }
  const deliveryId = headerValue(headers, 'x-service-delivery');
  const eventHeader = headerValue(headers, 'x-service-event');

  const expected = createHmac('sha256', secret).update(`${t}.`).update(rawBody).digest();
  if (!timingSafeEqual(expected, Buffer.from(v1, 'hex'))) {
    throw new WebhookVerificationError('signature_mismatch', 'The signature does not match the raw body');
  }
  const timestamp = Number(t);
  if (!(Math.abs(Math.floor(now.getTime() / 1_000) - timestamp) <= toleranceSeconds)) {
    const message = `The signature is more than ${toleranceSeconds} seconds away from now`;
    throw new WebhookVerificationError('timestamp_out_of_range', message);
  }

  const { event, data } = parseBody(rawBody);
  if (eventHeader !== null && eventHeader !== event) {
    throw new WebhookVerificationError('malformed_header', 'x-service-event differs from the body');
  }
  return { event, data, deliveryId, timestamp };
}

/** The one value of a header, null when it is absent. A record may spell one name in two cases. */
function headerValue(headers: ReceivedHeaders, name: string): string | null {
  const [value, ...others] = valuesOf(headers, name);
  // Node and fetch join repeated lines with a comma, which only the signature's fields may hold.
  const isJoined = name !== SIGNATURE_HEADER && value?.includes(',') === true;
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
  if (!/^(0|[1-9][0-9]{0,14})$/.test(t) || !/^[0-9a-f]{64}$/.test(v1)) throw malformedSignature();
  return { t, v1 };
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

import { describe, expect, it } from 'vitest';
import { deliveryHeaders, signPayload } from '../../src/webhooks/sending/signature.ts';
import { verifyWebhook, WebhookVerificationError } from '../../src/webhooks/verify.ts';

const secret = 'whsec_dGVzdCBzZWNyZXQ';
const secrets = { service: secret, standard: [secret] };
const t = 1_767_225_600;
const now = new Date(t * 1_000 + 400);
const text = '{ "event": "article.created", "data": {"title": "naïve – 日本"} }';
const body = Buffer.from(text);
const headers = deliveryHeaders({
  secrets,
  eventId: 'e-1',
  deliveryId: 'd-1',
  eventType: 'article.created',
  body,
  now,
});
const signature = signPayload(secret, t, body);
const v1 = signature.slice(signature.indexOf('v1='));

function codeOf(verify: () => unknown): string {
  try {
    verify();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
  return 'verified';
}

function codeOfSignature(value: string): string {
  return codeOf(() => verifyWebhook(body, { ...headers, 'x-service-signature': value }, secret, { now }));
}

describe('a genuine delivery', () => {
  it('is verified from bytes or text, with headers of any shape and case', () => {
    const expected = {
      event: 'article.created',
      data: { title: 'naïve – 日本' },
      deliveryId: 'd-1',
      timestamp: t,
    };
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    for (const shape of [headers, upper, lists, new Headers(headers), { ...headers, cookie: undefined }]) {
      expect(verifyWebhook(body, shape, secret, { now })).toEqual(expected);
      expect(verifyWebhook(new Uint8Array(body), shape, secret, { now })).toEqual(expected);
      expect(verifyWebhook(text, shape, secret, { now })).toEqual(expected);
    }
  });

  it('needs the signature header alone; fields of other names and their order do not matter', () => {
    for (const value of [signature, `${v1},t=${t}`, `${signature},v2=abc`, `v0=abc,${signature}`]) {
      const verified = verifyWebhook(body, { 'x-service-signature': value }, secret, { now });
      expect(verified).toMatchObject({ event: 'article.created', deliveryId: null });
    }
  });
});

describe('time', () => {
  // contract.md D5
  it.each([
    [0, 'verified'],
    [300, 'verified'],
    [-300, 'verified'],
    [301, 'timestamp_out_of_range'],
    [-301, 'timestamp_out_of_range'],
    [86_400, 'timestamp_out_of_range'],
  ])('a clock %i seconds off gives %s', (seconds, code) => {
    const clock = new Date((t + seconds) * 1_000);
    expect(codeOf(() => verifyWebhook(body, headers, secret, { now: clock }))).toBe(code);
  });

  it('uses the own clock and 300 seconds by default', () => {
    expect(codeOf(() => verifyWebhook(body, headers, secret))).toBe('timestamp_out_of_range');
    const fresh = deliveryHeaders({
      secrets,
      eventId: 'e',
      deliveryId: 'd',
      eventType: 'article.created',
      body,
      now: new Date(),
    });
    expect(codeOf(() => verifyWebhook(body, fresh, secret))).toBe('verified');
    const late = new Date((t + 20) * 1_000);
    const options = { now: late, toleranceSeconds: 10 };
    expect(codeOf(() => verifyWebhook(body, headers, secret, options))).toBe('timestamp_out_of_range');
    expect(codeOf(() => verifyWebhook(body, headers, secret, { now: new Date(Number.NaN) }))).toBe(
      'timestamp_out_of_range',
    );
  });
});

describe('a request that was changed', () => {
  it('does not match: another body, another secret, another time, the same JSON written again', () => {
    const bodies = [`${text} `, JSON.stringify(JSON.parse(text)), '', text.replace('naïve', 'naive')];
    for (const other of bodies) {
      expect(codeOf(() => verifyWebhook(other, headers, secret, { now }))).toBe('signature_mismatch');
    }
    for (const other of [`${secret} `, secret.slice('whsec_'.length), 'x']) {
      expect(codeOf(() => verifyWebhook(body, headers, other, { now }))).toBe('signature_mismatch');
    }
    const shifted = { 'x-service-signature': `t=${t + 1},${v1}` };
    expect(codeOf(() => verifyWebhook(body, shifted, secret, { now }))).toBe('signature_mismatch');
    expect(codeOfSignature(`t=${t},v1=${'0'.repeat(64)}`)).toBe('signature_mismatch');
  });

  it('is refused when the headers beside the signature contradict it', () => {
    const changed = (name: string, value: string) => () =>
      verifyWebhook(body, { ...headers, [name]: value }, secret, { now });
    expect(codeOf(changed('x-service-timestamp', String(t + 1)))).toBe('malformed_header');
    expect(codeOf(changed('x-service-event', 'article.published'))).toBe('malformed_header');
  });
});

describe('the signature header', () => {
  // contract.md D4
  it.each([
    [`t=${t},t=${t},${v1}`, 'repeated_header'],
    [`t=${t},${v1},${v1}`, 'repeated_header'],
    [`t=${t},v1=${'0'.repeat(64)},${v1}`, 'repeated_header'],
    [`t=${t + 900},${signature}`, 'repeated_header'],
    [`${signature}, ${signature}`, 'malformed_header'],
    [`${signature},${signature}`, 'repeated_header'],
    [`t=${t}`, 'malformed_header'],
    [v1, 'malformed_header'],
    ['', 'malformed_header'],
    [',', 'malformed_header'],
    [`${signature},`, 'malformed_header'],
    [`,${signature}`, 'malformed_header'],
    [`t=${t}, ${v1}`, 'malformed_header'],
    [`t=${t};${v1}`, 'malformed_header'],
    [` ${signature}`, 'malformed_header'],
    [`T=${t},${v1}`, 'malformed_header'],
    [`t=,${v1}`, 'malformed_header'],
    [`t,${v1}`, 'malformed_header'],
    [`t=0${t},${v1}`, 'malformed_header'],
    [`t=+${t},${v1}`, 'malformed_header'],
    [`t=-${t},${v1}`, 'malformed_header'],
    [`t=${t}.0,${v1}`, 'malformed_header'],
    [`t=1.7e9,${v1}`, 'malformed_header'],
    [`t=0x69556700,${v1}`, 'malformed_header'],
    [`t=99999999999999999999,${v1}`, 'malformed_header'],
    [`t=NaN,${v1}`, 'malformed_header'],
    [`t=${t},v1=`, 'malformed_header'],
    [`t=${t},${v1.slice(0, -1)}`, 'malformed_header'],
    [`t=${t},${v1}00`, 'malformed_header'],
    [`t=${t},v1=${'g'.repeat(64)}`, 'malformed_header'],
    [`t=${t},v1=${v1.slice(3).toUpperCase()}`, 'malformed_header'],
  ])('%j is a %s', (value, code) => {
    expect(codeOfSignature(value)).toBe(code);
  });

  it('is missing or repeated as a line of its own', () => {
    const { 'x-service-signature': _dropped, ...others } = headers;
    expect(codeOf(() => verifyWebhook(body, others, secret, { now }))).toBe('missing_header');
    expect(codeOf(() => verifyWebhook(body, new Headers(), secret, { now }))).toBe('missing_header');
    const list = { ...headers, 'x-service-signature': [signature, signature] };
    expect(codeOf(() => verifyWebhook(body, list, secret, { now }))).toBe('repeated_header');
    const cases = { ...headers, 'X-Service-Signature': signature };
    expect(codeOf(() => verifyWebhook(body, cases, secret, { now }))).toBe('repeated_header');
    for (const name of [
      'x-service-signature',
      'x-service-timestamp',
      'x-service-event',
      'x-service-delivery',
    ]) {
      const joined = new Headers(headers);
      joined.append(name, headers[name] ?? '');
      expect(codeOf(() => verifyWebhook(body, joined, secret, { now }))).toMatch(/repeated|malformed/);
    }
  });
});

describe('a signed body of another shape', () => {
  it.each([
    '',
    'null',
    '[]',
    '"text"',
    '{',
    '{"event":1,"data":{}}',
    '{"event":"a"}',
    '{"event":"a","data":[]}',
  ])('refuses %j', (raw) => {
    const signed = { 'x-service-signature': signPayload(secret, t, Buffer.from(raw)) };
    expect(codeOf(() => verifyWebhook(raw, signed, secret, { now }))).toBe('malformed_body');
  });

  it('refuses bytes that are not UTF-8', () => {
    const bytes = Buffer.from('{"event":"a\xff","data":{}}', 'latin1');
    const signed = { 'x-service-signature': signPayload(secret, t, bytes) };
    expect(codeOf(() => verifyWebhook(bytes, signed, secret, { now }))).toBe('malformed_body');
  });
});

describe('a wrong call', () => {
  it('throws a TypeError for parsed JSON and for an empty secret', () => {
    const parsed: unknown = JSON.parse(text);
    expect(() => verifyWebhook(parsed as string, headers, secret, { now })).toThrow(TypeError);
    expect(() => verifyWebhook(body, headers, '', { now })).toThrow(TypeError);
  });
});

import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type EventId, newId } from '../../../src/ids.ts';
import { deliveryHeaders, signPayload, signStandard } from '../../../src/webhooks/sending/signature.ts';

const secret = 'whsec_c2VjcmV0';

describe('the signature', () => {
  // contract.md D2
  it('is the hex HMAC-SHA256 of t, a dot and the raw bytes, under the secret as UTF-8 text', () => {
    // printf '1700000000.{"event":"ping","data":{}}' | openssl dgst -sha256 -hmac 'whsec_c2VjcmV0'
    const known = 'f454c8a6c27c487cb5d1e96bee7d5a4693b208a8943c343f916cfef5c0a01b00';
    expect(signPayload(secret, 1_700_000_000, Buffer.from('{"event":"ping","data":{}}'))).toBe(
      `t=1700000000,v1=${known}`,
    );
  });

  // contract.md W60
  it('of Standard Webhooks has the key that the base64 stands for, and covers the id', () => {
    // printf 'e1.1700000000.{}' | openssl dgst -sha256 -hmac 'secret' -binary | base64
    expect(signStandard(secret, 'e1', 1_700_000_000, Buffer.from('{}'))).toBe(
      'v1,gDunWhz9iSN39ToHNS8gOADAmG9WeofmxeJ2mWAdn2E=',
    );
  });

  it('covers bytes that are not text', () => {
    const bytes = Uint8Array.from([0xff, 0, 0xfe]);
    const v1 = createHmac('sha256', 'ключ').update(Buffer.from('5.')).update(bytes).digest('hex');
    expect(signPayload('ключ', 5, bytes)).toBe(`t=5,v1=${v1}`);
  });
});

describe('the headers of a delivery', () => {
  // contract.md D1
  it('are those of the contract and of Standard Webhooks, with one whole second as time', () => {
    const body = Buffer.from('{"event":"article.created","data":{}}');
    const input = {
      secrets: { service: secret, standard: [secret] },
      eventId: newId<EventId>(),
      deliveryId: 'd1',
      eventType: 'article.created',
      body,
    };
    const headers = deliveryHeaders({ ...input, now: new Date(1_700_000_000_999) });
    expect(headers).toEqual({
      'content-type': 'application/json',
      'x-service-signature': signPayload(secret, 1_700_000_000, body),
      'x-service-timestamp': '1700000000',
      'x-service-event': 'article.created',
      'x-service-delivery': 'd1',
      'webhook-id': input.eventId,
      'webhook-timestamp': '1700000000',
      'webhook-signature': signStandard(secret, input.eventId, 1_700_000_000, body),
    });
    const later = deliveryHeaders({ ...input, now: new Date(1_700_000_030_000) });
    expect(later['x-service-delivery']).toBe('d1');
    expect(later['x-service-signature']).not.toBe(headers['x-service-signature']);
  });
});

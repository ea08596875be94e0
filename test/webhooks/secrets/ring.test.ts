import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import { type EndpointId, newId } from '../../../src/ids.ts';
import { newSecretKey, parseSecretKeys } from '../../../src/secret-keys.ts';
import { generateSecret } from '../../../src/webhooks/secrets/generate.ts';
import { createSecretRing, keyIdOf } from '../../../src/webhooks/secrets/ring.ts';

const ringOf = (...keys: string[]) => createSecretRing(parseSecretKeys(keys));
const endpoint = newId<EndpointId>();
const secret = generateSecret();

it('the first key encrypts, every key decrypts, and the same secret is never stored twice the same', () => {
  const [old, next] = [newSecretKey('old'), newSecretKey('next')];
  const stored = ringOf(old).encrypt(endpoint, secret);
  expect(stored).toMatch(/^v1:old:[A-Za-z0-9_-]+$/);
  expect(stored).not.toContain(secret.slice(6));
  expect(ringOf(next, old).decrypt(endpoint, stored)).toBe(secret);
  expect(keyIdOf(ringOf(next, old).encrypt(endpoint, secret))).toBe('next');
  expect(ringOf(old).encrypt(endpoint, secret)).not.toBe(stored);
});

it('a secret opens with its key, for its endpoint, undamaged, or not at all', () => {
  const [key, other] = [newSecretKey('key'), newSecretKey('other')];
  const ring = ringOf(key);
  const stored = ring.encrypt(endpoint, secret);
  expect(ring.decrypt(newId<EndpointId>(), stored)).toBeNull();
  expect(ringOf(other).decrypt(endpoint, stored)).toBeNull();
  expect(ringOf(other.replace('other', 'key')).decrypt(endpoint, stored)).toBeNull();
  for (let at = 'v1:key:'.length; at < stored.length; at += 1) {
    const sign = stored[at] === 'A' ? 'w' : 'A';
    expect(ring.decrypt(endpoint, stored.slice(0, at) + sign + stored.slice(at + 1))).toBeNull();
    expect(ring.decrypt(endpoint, stored.slice(0, at))).toBeNull();
  }
});

it('bad keys stop the start with the name of the variable, and nothing of the key', () => {
  const good = newSecretKey('a');
  const bad = [
    'nonsense-that-may-be-a-key',
    `b:${Buffer.alloc(31, 1).toString('base64')}`,
    `c d:${good.slice(2)}`,
    `${good},a:${Buffer.alloc(32, 1).toString('base64')}`,
    `${good},b${good.slice(1)}`,
    Array.from({ length: 11 }, (_, index) => newSecretKey(`k${index}`)).join(','),
  ];
  for (const SECRETS_KEYS of bad) {
    const load = () => loadConfig({ SECRETS_KEYS });
    expect(load).toThrow(/^ {2}SECRETS_KEYS: /m);
    for (const part of SECRETS_KEYS.split(/[,:]/)) if (part.length > 20) expect(load).not.toThrow(part);
  }
  expect(() => loadConfig({ SECRETS_KEYS: good, SECRETS_AT_REST: 'off' })).toThrow('SECRETS_AT_REST: off');
  expect(JSON.stringify(loadConfig({ SECRETS_KEYS: good }))).not.toContain(good.slice(2));
});

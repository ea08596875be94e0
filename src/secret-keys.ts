import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

/** A key of SECRETS_KEYS. The object shows no bytes when it is printed. */
export interface SecretKey {
  readonly id: string;
  readonly key: KeyObject;
}

const KEY_BYTES = 32;
const MAX_KEYS = 10;
const FORM = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** A new random key as SECRETS_KEYS has it: `id:base64`. */
export const newSecretKey = (id: string): string => `${id}:${randomBytes(KEY_BYTES).toString('base64')}`;

/**
 * Reads `id:base64,…`, at most ten keys of 32 bytes each.
 * @throws Error that names a bad entry by its position, never by its text
 */
export function parseSecretKeys(entries: readonly string[]): SecretKey[] {
  if (entries.length > MAX_KEYS) throw new Error(`expected at most ${MAX_KEYS} keys`);
  const keys = entries.map((entry, index) => {
    const [, id, base64] = FORM.exec(entry) ?? [];
    if (id === undefined || base64 === undefined) {
      throw new Error(
        `expected id:base64 with 32 bytes and an id of up to 32 letters, digits, _ or -, not what key ${index + 1} is`,
      );
    }
    return { id, key: createSecretKey(base64, 'base64') };
  });
  for (const [index, { id, key }] of keys.entries()) {
    const earlier = keys.slice(0, index);
    if (earlier.some((other) => other.id === id || other.key.equals(key))) {
      throw new Error(`key ${index + 1} has the id or the bytes of an earlier one`);
    }
  }
  return keys;
}

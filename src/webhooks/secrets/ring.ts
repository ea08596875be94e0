import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { EndpointId } from '../../ids.ts';
import type { SecretKey } from '../../secret-keys.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The stored form, `v1:<key id>:<base64url of nonce, ciphertext, tag>`; the table's `secret_key_id` reads it, too. */
const ENCRYPTED = /^v1:([A-Za-z0-9_-]+):([A-Za-z0-9_-]+)$/;

/** @param context additional data: only the same context opens the result */
export function encrypt({ id, key }: SecretKey, context: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(context));
  const bytes = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return `v1:${id}:${Buffer.concat(bytes).toString('base64url')}`;
}

/** The text of an encrypted form; null when this is not its key or context, or the form is damaged. */
export function decrypt(key: KeyObject, context: string, stored: string): string | null {
  const bytes = Buffer.from(ENCRYPTED.exec(stored)?.[2] ?? '', 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8');
  try {
    return text + decipher.final('utf8');
  } catch {
    return null;
  }
}

/** The id of the key that a stored secret names; null for one in clear. */
export const keyIdOf = (stored: string): string | null => ENCRYPTED.exec(stored)?.[1] ?? null;

/** The keys of a process. Stored secrets are encrypted, or in clear from a time without keys. */
export interface SecretRing {
  /** Keys that decrypt, the one that encrypts first; empty with SECRETS_AT_REST=off. */
  readonly keyIds: readonly string[];
  /** A secret of the endpoint as it is stored; in clear without keys. */
  encrypt(endpointId: EndpointId, secret: string): string;
  /** The secret of what is stored; null when no key here opens it. */
  decrypt(endpointId: EndpointId, stored: string): string | null;
}

/** The ring of these keys (contract.md W22): the first encrypts, all decrypt. */
export function createSecretRing(keys: readonly SecretKey[]): SecretRing {
  const [first] = keys;
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  return {
    keyIds: [...byId.keys()],
    encrypt: (endpointId, secret) => (first === undefined ? secret : encrypt(first, endpointId, secret)),
    decrypt(endpointId, stored) {
      if (!stored.startsWith('v1:')) return stored;
      const key = byId.get(keyIdOf(stored) ?? '');
      return key === undefined ? null : decrypt(key, endpointId, stored);
    },
  };
}

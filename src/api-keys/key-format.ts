import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const MARKER = 'wcsk_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const PREFIX_LENGTH = 16;
const FORMAT = /^wcsk_[0-9A-Za-z]{49}$/;
const BODY_LENGTH = MARKER.length + SECRET_LENGTH;

/** 62 × 4: higher bytes are discarded, so that every letter is equally likely. */
const UNBIASED = 248;

function randomSecret(): string {
  let secret = '';
  while (secret.length < SECRET_LENGTH) {
    for (const byte of randomBytes(SECRET_LENGTH + 8)) {
      if (byte < UNBIASED && secret.length < SECRET_LENGTH) secret += ALPHABET.charAt(byte % 62);
    }
  }
  return secret;
}

/** CRC-32 of the text as six base62 digits, the highest first. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** By way of text: bytes that OpenSSL returns lie outside the heap, which takes three times as long. */
const sha256 = (key: string): Buffer => Buffer.from(hash('sha256', key, 'base64'), 'base64');

/** A new key: `key` is shown once, `prefix` and `hash` are stored. */
export interface GeneratedKey {
  readonly key: string;
  /** The key's first 16 characters. */
  readonly prefix: string;
  /** SHA-256 of the whole key, 32 bytes. */
  readonly hash: Buffer;
}

/** A new key: `wcsk_`, 43 random base62 characters (256 bits) and 6 of CRC-32 over all before them. */
export function generateKey(): GeneratedKey {
  const body = MARKER + randomSecret();
  const key = body + checksum(body);
  return { key, prefix: key.slice(0, PREFIX_LENGTH), hash: sha256(key) };
}

/** The hash to look a key up by, or null for text that cannot be a key, which needs no query. */
export function parseKey(text: string): Buffer | null {
  if (!FORMAT.test(text) || checksum(text.slice(0, BODY_LENGTH)) !== text.slice(BODY_LENGTH)) return null;
  return sha256(text);
}

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { generateKey, parseKey } from '../../src/api-keys/key-format.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

// contract.md K2
test('a key is its marker, 43 random letters and the CRC-32 of both, and its prefix is its first 16', () => {
  const { key, prefix, hash } = generateKey();
  expect(key).toMatch(/^wcsk_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
  expect(prefix).toBe(key.slice(0, 16));
  expect(hash).toEqual(createHash('sha256').update(key).digest());
  const decoded = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + base62.indexOf(digit), 0);
  expect(decoded).toBe(crc32(key.slice(0, -6)));
  expect(parseKey(key)).toEqual(hash);
});

test('every letter is about equally likely', () => {
  const counts = new Map<string, number>();
  const keys = 2_000;
  for (let index = 0; index < keys; index += 1) {
    for (const letter of generateKey().key.slice(5, 48)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  const expected = (keys * 43) / 62;
  const chiSquare = [...base62].reduce((sum, letter) => {
    return sum + ((counts.get(letter) ?? 0) - expected) ** 2 / expected;
  }, 0);
  // 61 degrees of freedom: above 130 happens once in a million runs; a plain modulo of bytes gives over 500.
  expect(chiSquare).toBeLessThan(130);
});

test('a key with any one character changed, dropped or added is refused without a query', () => {
  const { key } = generateKey();
  for (let index = 0; index < key.length; index += 1) {
    const other = key[index] === 'x' ? 'y' : 'x';
    expect(parseKey(key.slice(0, index) + other + key.slice(index + 1))).toBeNull();
  }
  for (const text of ['', key.slice(0, -1), `${key}0`, key.toLowerCase(), ` ${key}`, `${key}\n`, `x${key}`]) {
    expect(parseKey(text)).toBeNull();
  }
});

test('the published pattern for secret scanners finds every key and nothing around it', async () => {
  const page = await readFile(new URL('../../docs/api-keys.md', import.meta.url), 'utf8');
  const [, pattern = ''] = /^ {4}(\\b.+\\b)$/m.exec(page) ?? [];
  for (let index = 0; index < 100; index += 1) {
    const { key } = generateKey();
    expect(`KEY="${key}"; x=${key.slice(0, -1)}`.match(new RegExp(pattern, 'g'))).toEqual([key]);
  }
});

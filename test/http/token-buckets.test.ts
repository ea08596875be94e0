import { expect, test } from 'vitest';
import { createTokenBuckets } from '../../src/http/token-buckets.ts';

test('buckets take no more memory than their bound, and those that are full again take none', () => {
  let now = 0;
  const buckets = createTokenBuckets(() => now, 1_000);
  for (let index = 0; index < 5_000; index += 1) {
    buckets.take(`key ${index}`, 60, 30);
    now += 1;
  }
  expect(buckets.size()).toBe(1_000);
  expect(buckets.left('key 4999', 60)).toBeCloseTo(30, 1);
  expect(buckets.left('key 0', 60)).toBe(60);
  now += 60_000;
  for (let index = 0; index < 600; index += 1) buckets.take('one', 60, 1);
  expect(buckets.size()).toBe(1);
  expect(buckets.left('one', 60)).toBe(0);
});

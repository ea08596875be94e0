import { expect, it } from 'vitest';
import { createTokens } from '../../../src/webhooks/relay/tokens.ts';

it('after a quiet time 20 deliveries get runs, then as many as the rate brings', () => {
  const tokens = createTokens(10, 0);
  expect(tokens.available(0, 0)).toBe(20);
  for (let run = 0; run < 20; run += 1) tokens.spend();
  expect(tokens.available(99, 0)).toBe(0);
  expect(tokens.available(100, 0)).toBe(1);
  expect(tokens.available(600, 0)).toBe(6);
  expect(tokens.available(60_000, 0)).toBe(20);
});

it('no run is started while as many wait for their first attempt as the rate brings in 200 ms', () => {
  const tokens = createTokens(10, 0);
  expect(tokens.available(0, 1)).toBe(20);
  expect(tokens.available(0, 2)).toBe(0);
  expect(createTokens(1_000, 0).available(0, 199)).toBe(20);
  expect(createTokens(1, 0).available(0, 0)).toBe(20);
  expect(createTokens(0, 0).available(60_000, 0)).toBe(0);
});

import { expect, test, vi } from 'vitest';
import { newOrderedId, parseId } from '../src/ids.ts';

test('ordered ids ascend within a millisecond, beyond 4,096 of them, and when the clock is set back', () => {
  const ids = Array.from({ length: 20_000 }, () => newOrderedId());
  vi.useFakeTimers({ now: Date.now() - 3_600_000 });
  ids.push(...Array.from({ length: 5_000 }, () => newOrderedId()));
  vi.useRealTimers();
  ids.push(newOrderedId());
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids.slice(0, 10)) {
    expect(parseId(id)).toBe(id);
    expect(id).toMatch(/^.{14}7.{4}[89ab]/);
  }
});

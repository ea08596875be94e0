import { expect, test } from 'vitest';
import { createShares } from '../../src/db/shares.ts';

/** Takes until one has to wait; returns how many it got, and how to give them back. */
async function takeAll(shares: ReturnType<typeof createShares>, holder: string) {
  const ends: (() => void)[] = [];
  for (;;) {
    const waited = shares.waiting();
    const next = shares.take(holder, 1_000);
    if (shares.waiting() > waited) {
      next.catch(() => undefined);
      return ends;
    }
    ends.push(await next);
  }
}

test('one holder gets half, the next half of the rest, and there is one for each of several more', async () => {
  const shares = createShares(16);
  const counts = [];
  for (const holder of ['first', 'second', 'third', 'fourth', 'fifth']) {
    counts.push((await takeAll(shares, holder)).length);
  }
  expect(counts).toEqual([8, 4, 2, 1, 1]);
});

test('those who wait are served in turn, whoever asked first and however often', async () => {
  const shares = createShares(2);
  const served: string[] = [];
  const use = async (holder: string) => {
    const giveBack = await shares.take(holder, 1_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
    served.push(holder);
    giveBack();
  };
  await Promise.all([...Array.from({ length: 6 }, () => 'many'), 'few', 'other'].map(use));
  expect(served.slice(0, 4).sort()).toEqual(['few', 'many', 'many', 'other']);
  expect(served).toHaveLength(8);
});

test('who waits too long is refused, leaves nothing behind, and the others go on', async () => {
  const shares = createShares(2);
  const giveBack = await shares.take('a', 20);
  await expect(shares.take('a', 20)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  const kept = await shares.take('b', 20);
  kept();
  giveBack();
  expect(shares.waiting()).toBe(0);
  expect(await takeAll(shares, 'c')).toHaveLength(1);
});

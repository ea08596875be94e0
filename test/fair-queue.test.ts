import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createFairQueue, type FairQueueOptions } from '../src/fair-queue.ts';

const turnsOf = (options: Pick<FairQueueOptions, 'total' | 'perOwner'>) =>
  createFairQueue({ ...options, maxWaiting: 3, refusal: () => new Error('busy') });

/** Takes in the background and says who has got a turn, in order; a name begins with its owner's letter. */
function takers(options: Pick<FairQueueOptions, 'total' | 'perOwner'>) {
  const turns = turnsOf(options);
  const got: string[] = [];
  const ends = new Map<string, () => void>();
  const settled = () => sleep(5);
  return {
    got,
    turns,
    want: async (name: string, amount = 1) => {
      const taken = turns.take(name.charAt(0), { amount, waitMs: 5_000 }).then((release) => {
        got.push(name);
        ends.set(name, release);
      });
      taken.catch(() => undefined);
      await settled();
    },
    end: async (name: string) => {
      ends.get(name)?.();
      await settled();
    },
  };
}

describe('owners who share what is scarce', () => {
  test('are served in turn, each its own oldest claim first, however many one has', async () => {
    for (const perOwner of [1, 2, 'half'] as const) {
      const { got, want, end, turns } = takers({ total: 2, perOwner });
      await want('z1');
      const order = ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'];
      for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) await want(name);
      for (const name of order) {
        expect(got.at(-1)).toBe(name);
        await end(name);
        // Given back once, however often that is said.
        await end(name);
      }
      expect(got).toEqual(['z1', ...order]);
      expect(turns.waiting()).toBe(0);
    }
  });

  test('have no more than their share, and what is left goes to others', async () => {
    const { got, want, end } = takers({ total: 3, perOwner: 2 });
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) await want(name);
    expect(got).toEqual(['a1', 'a2', 'b1']);
    await end('b1');
    expect(got).toEqual(['a1', 'a2', 'b1', 'b2']);
    await end('a1');
    expect(got.at(-1)).toBe('a3');
  });

  test('with a half each, find something left: a half, a quarter, and one for each of several more', async () => {
    const { got, want, turns } = takers({ total: 16, perOwner: 'half' });
    for (const owner of ['a', 'b', 'c', 'd', 'e']) {
      const before = turns.waiting();
      for (let n = 1; turns.waiting() === before; n += 1) await want(`${owner}${n}`);
    }
    const counts = ['a', 'b', 'c', 'd', 'e'].map((owner) => got.filter((name) => name[0] === owner).length);
    expect(counts).toEqual([8, 4, 2, 1, 1]);
  });

  test('get all that is free at once, in turn', async () => {
    const { got, want, end } = takers({ total: 6, perOwner: 6 });
    for (const [name, amount] of [
      ['a6', 6],
      ['b1', 1],
      ['b2', 1],
      ['c3', 3],
      ['b3', 1],
    ] as const) {
      await want(name, amount);
    }
    await end('a6');
    expect(got).toEqual(['a6', 'b1', 'c3', 'b2', 'b3']);
  });

  test('with small claims do not pass a large one for ever', async () => {
    const { got, want, end } = takers({ total: 10, perOwner: 6 });
    for (const [name, amount] of [
      ['a6', 6],
      ['b3', 3],
      ['c5', 5],
      ['d1', 1],
      ['a1', 1],
    ] as const) {
      await want(name, amount);
    }
    // There is room for one more, but it is kept for who came before.
    expect(got).toEqual(['a6', 'b3']);
    await end('a6');
    expect(got).toEqual(['a6', 'b3', 'c5', 'd1', 'a1']);
  });

  test('may claim more than their share, and get that', async () => {
    const { got, want, end } = takers({ total: 10, perOwner: 6 });
    for (const [name, amount] of [
      ['a', 60],
      ['b4', 4],
      ['c1', 1],
    ] as const)
      await want(name, amount);
    expect(got).toEqual(['a', 'b4']);
    await end('a');
    expect(got).toEqual(['a', 'b4', 'c1']);
  });
});

describe('a claim', () => {
  test('that waits too long is refused, and so is one too many of an owner', async () => {
    const turns = turnsOf({ total: 1, perOwner: 1 });
    const release = await turns.take('a', { waitMs: 5_000 });
    const waiting = Promise.allSettled([1, 2, 3].map(() => turns.take('b', { waitMs: 100 })));
    await expect(turns.take('b', { waitMs: 100 })).rejects.toThrow('busy');
    const other = turns.take('c', { waitMs: 5_000 });
    expect(turns.waiting()).toBe(4);
    expect((await waiting).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
    expect(turns.waiting()).toBe(1);
    release();
    (await other)();
    (await turns.take('b', { waitMs: 0 }))();
  });

  test('that is taken back frees its place at once, for its owner and for who waits behind it', async () => {
    const turns = turnsOf({ total: 10, perOwner: 10 });
    await turns.take('a', { amount: 5, waitMs: 5_000 });
    const gone = new AbortController();
    const reason = new Error('gone');
    const leaving = turns.take('b', { amount: 8, waitMs: 5_000, signal: gone.signal });
    const behind = turns.take('c', { amount: 5, waitMs: 5_000 });
    expect(turns.waiting()).toBe(2);
    gone.abort(reason);
    await expect(leaving).rejects.toBe(reason);
    (await behind)();
    await expect(turns.take('b', { waitMs: 5_000, signal: gone.signal })).rejects.toBe(reason);
    expect(turns.waiting()).toBe(0);
  });

  test('that is taken back leaves its owner the place of its other ones', async () => {
    const turns = turnsOf({ total: 1, perOwner: 1 });
    const release = await turns.take('a', { waitMs: 5_000 });
    const gone = new AbortController();
    const leaving = turns.take('b', { waitMs: 5_000, signal: gone.signal });
    const got: string[] = [];
    const others = ['b', 'c'].map(async (owner) => {
      const end = await turns.take(owner, { waitMs: 5_000 });
      got.push(owner);
      end();
    });
    gone.abort();
    await expect(leaving).rejects.toThrow();
    release();
    await Promise.all(others);
    expect(got).toEqual(['b', 'c']);
  });
});

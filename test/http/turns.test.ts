import { expect, test } from 'vitest';
import { createTurns } from '../../src/http/turns.ts';

const STAYS = new AbortController().signal;
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

/** Takes in the background and says who has got a turn, in order. */
function takers(turns: ReturnType<typeof createTurns>) {
  const got: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    got,
    want: (owner: string, name: string, amount = 1) =>
      turns.take(owner, amount, STAYS).then((end) => {
        got.push(name);
        ends.set(name, end);
      }),
    end: (name: string) => ends.get(name)?.(),
  };
}

test('owners are served in turns, and what one has too many of waits for its own', async () => {
  const { got, want, end } = takers(createTurns({ total: 2, perOwner: 1, waitMs: 5_000 }));
  const wishes = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => want(name.charAt(0), name));
  for (const name of ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']) {
    await settled();
    expect(got).toContain(name);
    end(name);
    // Given back once, however often that is said.
    end(name);
  }
  await Promise.all(wishes);
  expect(got).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('a large wish is not passed by small ones for ever, and an owner has no more than its share', async () => {
  const { got, want, end } = takers(createTurns({ total: 10, perOwner: 6, waitMs: 5_000 }));
  const wishes = [
    want('a', 'a6', 6),
    want('b', 'b3', 3),
    want('c', 'c5', 5),
    want('d', 'd1'),
    want('a', 'a1'),
  ];
  await settled();
  // There is room for one more, but it is kept for who came before.
  expect(got).toEqual(['a6', 'b3']);
  end('a6');
  await settled();
  expect(got).toEqual(['a6', 'b3', 'c5', 'd1', 'a1']);
  await Promise.all(wishes);
});

test('who waits too long, has gone or wants too much at once is refused, and blocks nobody', async () => {
  const turns = createTurns({ total: 1, perOwner: 1, waitMs: 300 });
  const end = await turns.take('a', 1, STAYS);
  const gone = new AbortController();
  const reason = new Error('gone');
  const leaving = turns.take('b', 1, gone.signal);
  gone.abort(reason);
  await expect(leaving).rejects.toBe(reason);
  await expect(turns.take('b', 1, gone.signal)).rejects.toBe(reason);
  const waiting = Array.from({ length: 32 }, () => turns.take('c', 1, STAYS));
  const refusals = Promise.allSettled(waiting);
  await expect(turns.take('c', 1, STAYS)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  const last = turns.take('d', 1, STAYS).then((done) => done());
  expect((await refusals).every(({ status }) => status === 'rejected')).toBe(true);
  await expect(last).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  end();
  (await turns.take('e', 1, STAYS))();
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createRoom, type RoomOptions } from '../src/room.ts';

const roomOf = (options: Partial<RoomOptions> = {}) =>
  createRoom({
    total: 96,
    perOwner: 24,
    maxWaiting: { perOwner: 3, total: 5 },
    overtakeMs: 0,
    refusal: () => new Error('no room'),
    ...options,
  });

/** Takes for an owner, and returns how it ended so far. */
function claim(room: ReturnType<typeof roomOf>, owner: string, bytes: number, waitMs = 5_000) {
  const holding = room.open(owner);
  const state = { is: 'waits', holding };
  void holding.take(bytes, { waitMs }).then(
    () => {
      state.is = 'holds';
    },
    (error: Error) => {
      state.is = error.message;
    },
  );
  return state;
}
const settle = () => sleep(5);

// contract.md A50
test('an owner holds a quarter at most, and never more than it leaves free', async () => {
  const room = roomOf();
  const first = claim(room, 'a', 20);
  const second = claim(room, 'a', 5);
  const larger = claim(room, 'b', 100);
  const small = claim(room, 'a', 4);
  await settle();
  expect([first.is, second.is, larger.is, small.is, room.held()]).toEqual([
    'holds',
    'waits',
    'holds',
    'waits',
    44,
  ]);
  const third = claim(room, 'c', 24);
  const fourth = claim(room, 'd', 24);
  await settle();
  // 28 are left: 24 would leave 4.
  expect([third.is, fourth.is, room.held()]).toEqual(['holds', 'waits', 68]);
  larger.holding.release();
  await settle();
  expect([fourth.is, room.held()]).toEqual(['holds', 68]);
  for (const { holding } of [first, third, fourth]) holding.release();
  await settle();
  expect([second.is, small.is, room.held(), room.waiting()]).toEqual(['holds', 'holds', 9, 0]);
});

// contract.md A50
test('a claim is overtaken by smaller ones for a while, then what is freed is kept for it', async () => {
  const room = roomOf({ overtakeMs: 100 });
  const others = ['a', 'b', 'c'].map((owner) => claim(room, owner, 20));
  const large = claim(room, 'd', 20);
  await settle();
  const early = claim(room, 'e', 6);
  await settle();
  expect([large.is, early.is]).toEqual(['waits', 'holds']);
  await sleep(120);
  early.holding.release();
  const late = ['e', 'f'].map((owner) => claim(room, owner, 4));
  await settle();
  // Small claims keep a sixteenth, which is 6.
  expect(late.map(({ is }) => is)).toEqual(['holds', 'waits']);
  others[0]?.holding.release();
  await settle();
  expect([large.is, ...late.map(({ is }) => is)]).toEqual(['holds', 'holds', 'holds']);
});

// contract.md A50
test('a claim at its own limit keeps nothing from others', async () => {
  const room = roomOf();
  const first = claim(room, 'a', 20);
  const second = claim(room, 'a', 20);
  await settle();
  const other = claim(room, 'b', 24);
  const small = claim(room, 'a', 1);
  const more = claim(room, 'a', 1);
  await settle();
  // Its owner's own smaller claims keep a sixteenth of its part, which is 1.5.
  expect([first.is, second.is, other.is, small.is, more.is]).toEqual([
    'holds',
    'waits',
    'holds',
    'holds',
    'waits',
  ]);
});

test('claims end when they have waited long enough, too many wait, or they are withdrawn', async () => {
  const room = roomOf();
  const first = claim(room, 'a', 24);
  const waiting = [1, 2, 3, 4].map(() => claim(room, 'a', 10, 50));
  const gone = new AbortController();
  const withdrawn = room.open('b');
  const held = claim(room, 'c', 24);
  const much = claim(room, 'd', 24);
  await settle();
  expect(waiting.map(({ is }) => is)).toEqual(['waits', 'waits', 'waits', 'no room']);
  const ended = withdrawn.take(24, { waitMs: 5_000, signal: gone.signal });
  gone.abort(new Error('gone'));
  await expect(ended).rejects.toThrow('gone');
  await sleep(60);
  expect(waiting.map(({ is }) => is)).toEqual(Array(4).fill('no room'));
  for (const { holding } of [first, held, much]) holding.release();
  expect([room.held(), room.waiting()]).toEqual([0, 0]);
});

// contract.md A50
test('whoever needs more gives back what it holds before it waits, and what is committed needs no more', async () => {
  const room = roomOf();
  const [a, b] = [room.open('a'), room.open('a')];
  await a.take(12, { waitMs: 100 });
  await b.take(12, { waitMs: 100 });
  expect([a.resize(13), b.resize(8), a.resize(14)]).toEqual([false, true, true]);
  const first = a.take(20, { waitMs: 1_000 });
  const second = b.take(20, { waitMs: 1_000 });
  await first;
  a.release();
  await second;
  b.release();
  const committed = room.open('a');
  committed.insist(200);
  expect([committed.bytes(), room.held()]).toEqual([200, 200]);
  committed.release();
});

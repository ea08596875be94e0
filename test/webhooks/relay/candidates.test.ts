import { expect, it } from 'vitest';
import { type EndpointId, newId, type WorkspaceId } from '../../../src/ids.ts';
import { chooseCandidates } from '../../../src/webhooks/relay/candidates.ts';
import { createCapacity } from '../../../src/webhooks/relay/capacity.ts';
import { createKnownEndpoints } from '../../../src/webhooks/relay/known-endpoints.ts';
import { createLook, createWalk } from '../../../src/webhooks/relay/scans.ts';

const NOW = 1_000;
const isHeld = () => false;
const choice = { now: NOW, isLook: false, isBurstOpen: true, runs: 0 };

/** What a relay knows after it has claimed from so many endpoints, all of which have more or none. */
function knowing(endpoints: number, hasMore: boolean) {
  const [known, capacity] = [createKnownEndpoints(), createCapacity({ mostYoung: () => 2_000 })];
  for (let count = 0; count < endpoints; count += 1) {
    const seen = { id: newId<EndpointId>(), workspaceId: newId<WorkspaceId>(), active: true, due: 6 };
    known.saw({ ...seen, nextDueIn: null, claimedUpTo: new Date() }, hasMore, NOW, { claimed: 1 });
  }
  return { known, capacity, isHeld };
}

// contract.md W121
it('a claim asks for a hundred of 5,000 endpoints that wait, shares its 500 among them, and asks for none without room', () => {
  const sources = knowing(5_000, true);
  const candidates = chooseCandidates(sources, choice);
  expect(candidates).toHaveLength(100);
  expect(candidates.every(({ room }) => room === 5)).toBe(true);
  expect(chooseCandidates(sources, { ...choice, isBurstOpen: false })).toEqual([]);
  for (let count = 0; count < 2_000; count += 1) sources.capacity.began(newId(), newId());
  expect(chooseCandidates(sources, { ...choice, isLook: true })).toEqual([]);
  expect(chooseCandidates(sources, { ...choice, runs: 3 })).toHaveLength(100);
});

it('gives a few endpoints all the room there is', () => {
  expect(chooseCandidates(knowing(1, true), choice)).toMatchObject([{ room: 20 }]);
});

// contract.md W121
it('asks for what had something lately in a look alone, and then only where there is something new', () => {
  const sources = knowing(500, false);
  expect(chooseCandidates(sources, choice)).toEqual([]);
  const candidates = chooseCandidates(sources, { ...choice, isLook: true });
  expect(candidates).toHaveLength(200);
  expect(candidates.every(({ isOnlyIfNew }) => isOnlyIfNew)).toBe(true);
});

// contract.md W121
it('however many commits want a look, looks take at most a fifth of the time, and what is new waits 25 ms at most', () => {
  const looksOf = (took: number) => {
    const look = createLook();
    let looks = 0;
    for (let now = 0; now < 10_000; now += 1) {
      look.want();
      if (look.dueAt() > now) continue;
      look.began();
      looks += 1;
      look.ended(now + took, took);
    }
    return looks;
  };
  expect(looksOf(5)).toBe(10_000 / 25);
  expect(looksOf(100)).toBeLessThanOrEqual(Math.ceil(10_000 / 125));
  const look = createLook();
  look.began();
  look.ended(100, 10);
  expect(look.dueAt()).toBe(Number.POSITIVE_INFINITY);
});

it('a walk that is wanted in the middle of another one follows it', () => {
  const walk = createWalk();
  const middle = newId<EndpointId>();
  const start = walk.began();
  walk.ended(10, 1, middle);
  walk.want();
  expect(walk.dueAt()).toBe(14);
  expect(walk.began()).toBe(middle);
  walk.ended(20, 1, null);
  expect(walk.dueAt()).toBe(24);
  expect(walk.began()).toBe(start);
  walk.ended(30, 1, null);
  expect(walk.dueAt()).toBe(Number.POSITIVE_INFINITY);
});

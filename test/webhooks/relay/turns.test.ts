import { expect, it } from 'vitest';
import { type EndpointId, newId, type WorkspaceId } from '../../../src/ids.ts';
import { CLAIM_LIMIT, chooseCandidates } from '../../../src/webhooks/relay/candidates.ts';
import { createCapacity, type InFlight } from '../../../src/webhooks/relay/capacity.ts';
import { createKnownEndpoints } from '../../../src/webhooks/relay/known-endpoints.ts';

const ROUND_MS = 10;

interface Endpoint {
  readonly id: EndpointId;
  readonly workspaceId: WorkspaceId;
  /** Milliseconds until its receiver responds. */
  readonly latency: number;
  waiting: number;
  claimed: number;
  firstClaimAt: number | null;
}

const endpoint = (latency: number, waiting: number, workspaceId = newId<WorkspaceId>()): Endpoint => ({
  ...{ id: newId<EndpointId>(), workspaceId, latency, waiting, claimed: 0, firstClaimAt: null },
});

/**
 * A relay's choices on a clock of their own: each round claims as the database would, and receivers respond in their time.
 * @param mostYoung requests of less than a second in flight
 */
function startRounds(mostYoung = 2_000) {
  let now = 0;
  const known = createKnownEndpoints();
  const capacity = createCapacity({ mostYoung: () => mostYoung, clock: () => now });
  const endpoints = new Map<EndpointId, Endpoint>();
  const ends = new Map<number, InFlight[]>();
  const saw = (one: Endpoint, claimed: number) =>
    known.saw(
      {
        ...{ id: one.id, workspaceId: one.workspaceId, active: true, due: Math.min(6, one.waiting) },
        ...{ nextDueIn: null, claimedUpTo: claimed === 0 ? null : new Date() },
      },
      one.waiting > 0,
      now,
      { claimed },
    );
  function round(): number {
    for (const one of ends.get(now) ?? []) capacity.ended(one, true);
    ends.delete(now);
    const candidates = chooseCandidates(
      { known, capacity, isHeld: () => false },
      { now, isLook: false, isBurstOpen: true, runs: 0 },
    );
    let left = CLAIM_LIMIT;
    for (const { endpointId, room } of candidates) {
      const one = endpoints.get(endpointId);
      if (one === undefined) throw new Error('nobody knows it');
      const claimed = Math.min(room, left, one.waiting);
      left -= claimed;
      one.waiting -= claimed;
      one.claimed += claimed;
      if (claimed > 0) one.firstClaimAt ??= now;
      const endsAt = now + Math.max(ROUND_MS, Math.round(one.latency / ROUND_MS) * ROUND_MS);
      const ending = ends.get(endsAt) ?? [];
      ends.set(endsAt, ending);
      for (let began = 0; began < claimed; began += 1) ending.push(capacity.began(one.id, one.workspaceId));
      saw(one, claimed);
    }
    now += ROUND_MS;
    return candidates.length;
  }
  return {
    add(...added: Endpoint[]) {
      for (const one of added) {
        endpoints.set(one.id, one);
        saw(one, 0);
      }
    },
    /** @returns the most endpoints that a claim asked for */
    run(milliseconds: number): number {
      let most = 0;
      for (const until = now + milliseconds; now < until; ) most = Math.max(most, round());
      return most;
    },
    now: () => now,
  };
}

// contract.md W120
it.each([
  { receivers: 'alike', latencies: [100], workspaces: 1_000, mostYoung: 2_000, seconds: 20 },
  {
    receivers: 'quick and slow',
    latencies: [10, 100, 400],
    workspaces: 1_000,
    mostYoung: 2_000,
    seconds: 20,
  },
  { receivers: 'of ten workspaces', latencies: [50], workspaces: 10, mostYoung: 2_000, seconds: 20 },
  { receivers: 'alike', latencies: [100], workspaces: 1_000, mostYoung: 150, seconds: 20 },
  { receivers: 'quick and slow', latencies: [10, 100, 400], workspaces: 1_000, mostYoung: 150, seconds: 60 },
  { receivers: 'of ten workspaces', latencies: [50], workspaces: 10, mostYoung: 150, seconds: 20 },
])(
  'of 1,000 endpoints with a backlog each, $receivers, none gets twice as many as another in $seconds s, $mostYoung young',
  ({ latencies, workspaces, mostYoung, seconds }) => {
    const rounds = startRounds(mostYoung);
    const owners = Array.from({ length: workspaces }, () => newId<WorkspaceId>());
    const all = Array.from({ length: 1_000 }, (_, index) =>
      endpoint(latencies[index % latencies.length] ?? 0, 1_000_000, owners[index % workspaces]),
    );
    rounds.add(...all);
    expect(rounds.run(seconds * 1_000)).toBeLessThanOrEqual(100);
    const served = all.map(({ claimed }) => claimed);
    expect(Math.min(...served)).toBeGreaterThan(0);
    expect(Math.max(...served) / Math.min(...served)).toBeLessThanOrEqual(2);
  },
  60_000,
);

// contract.md W120
it.each([2_000, 150])(
  "a newcomer's first delivery is claimed within 100 ms beside 1,000 backlogs, and it gets no more than they: %i young",
  (mostYoung) => {
    const rounds = startRounds(mostYoung);
    const backlogs = Array.from({ length: 1_000 }, () => endpoint(100, 1_000_000));
    rounds.add(...backlogs);
    rounds.run(5_000);
    for (let count = 0; count < 20; count += 1) {
      const newcomer = endpoint(100, 1);
      const at = rounds.now();
      rounds.add(newcomer);
      rounds.run(200);
      expect((newcomer.firstClaimAt ?? Number.POSITIVE_INFINITY) - at).toBeLessThanOrEqual(100);
    }
    const late = endpoint(100, 1_000_000);
    rounds.add(late);
    const before = backlogs.map(({ claimed }) => claimed);
    rounds.run(10_000);
    const usual = backlogs.map(({ claimed }, index) => claimed - (before[index] ?? 0));
    expect(late.claimed).toBeLessThanOrEqual(2 * Math.max(...usual));
    expect(late.claimed).toBeGreaterThanOrEqual(Math.min(...usual) / 2);
  },
  60_000,
);

it('an endpoint that got nothing for lack of room is next when there is, and holds up nobody for what it missed', () => {
  const rounds = startRounds();
  const workspaceId = newId<WorkspaceId>();
  // Its receiver hangs for ten seconds, and then takes what there is.
  const hanging = { ...endpoint(10_000, 1_000_000, workspaceId) };
  const others = Array.from({ length: 200 }, () => endpoint(100, 1_000_000));
  rounds.add(hanging, ...others);
  rounds.run(30_000);
  const before = others.map(({ claimed }) => claimed);
  Object.assign(hanging, { latency: 10 });
  rounds.run(20_000);
  const served = others.map(({ claimed }, index) => claimed - (before[index] ?? 0));
  expect(Math.max(...served) / Math.min(...served)).toBeLessThanOrEqual(2);
  expect(hanging.claimed).toBeGreaterThan(Math.min(...served));
});

import { expect, it } from 'vitest';
import { type EndpointId, newId, type WorkspaceId } from '../../../src/ids.ts';
import { createCapacity, type InFlight } from '../../../src/webhooks/relay/capacity.ts';
import { createYoungBound } from '../../../src/webhooks/relay/young-bound.ts';

/** A worker with all the time it wants. */
const createIdle = () => createCapacity({ mostYoung: () => 2_000 });

it('workspaces with any number of receivers that hang leave room for the next one', () => {
  const capacity = createIdle();
  const fill = (workspaceId: WorkspaceId): number => {
    let taken = 0;
    for (let endpoints = 0; endpoints < 100; endpoints += 1) {
      const endpointId = newId<EndpointId>();
      for (let room = capacity.room(endpointId, workspaceId); room > 0; room -= 1) {
        capacity.began(endpointId, workspaceId);
        taken += 1;
      }
    }
    return taken;
  };
  const hanging = Array.from({ length: 8 }, () => fill(newId<WorkspaceId>()));
  expect(hanging.slice(0, 3)).toEqual([500, 500, 500]);
  expect(hanging.every((taken) => taken > 0)).toBe(true);
  expect(capacity.room(newId<EndpointId>(), newId<WorkspaceId>())).toBeGreaterThan(0);
});

it('a claim for many endpoints of one workspace shares out what that may have, and no more', () => {
  const capacity = createIdle();
  const [one, other] = [newId<WorkspaceId>(), newId<WorkspaceId>()];
  const share = capacity.shareOut();
  const shared = Array.from({ length: 100 }, () => share(newId<EndpointId>(), one));
  expect(shared.reduce((sum, each) => sum + each, 0)).toBe(500);
  expect(share(newId<EndpointId>(), other)).toBe(20);
});

it('what an endpoint could take is remembered of the last 10,000, so that deleted ones fill no memory', () => {
  const capacity = createIdle();
  const workspaceId = newId<WorkspaceId>();
  const ids = Array.from({ length: 10_001 }, () => newId<EndpointId>());
  for (const id of ids) {
    const requests = Array.from({ length: 20 }, () => capacity.began(id, workspaceId));
    for (const request of requests) capacity.ended(request, true);
  }
  const [first, second] = ids;
  if (first === undefined || second === undefined) throw new Error('none');
  expect([first, second, ...ids.slice(-1)].map((id) => capacity.room(id, workspaceId))).toEqual([20, 40, 40]);
});

// contract.md W120
it('a busy worker has few requests of a workspace that began just now, and up to 500 that wait for receivers that hang', () => {
  let now = 0;
  const capacity = createCapacity({ mostYoung: () => 150, clock: () => now });
  const [busy, other] = [newId<WorkspaceId>(), newId<WorkspaceId>()];
  const begin = (): InFlight[] => {
    const share = capacity.shareOut();
    const ids = Array.from({ length: 20 }, () => newId<EndpointId>());
    const shares = ids.map((id) => Array<EndpointId>(share(id, busy)).fill(id));
    return shares.flat().map((id) => capacity.began(id, busy));
  };
  const first = begin();
  expect(first).toHaveLength(75);
  expect(begin()).toEqual([]);
  expect(capacity.room(newId<EndpointId>(), other)).toBe(20);
  for (const request of first.slice(0, 10)) capacity.ended(request, true);
  expect(begin()).toHaveLength(10);
  now += 1_000;
  expect(begin()).toHaveLength(75);
  expect(capacity.left).toBe(75);
  for (const request of first.slice(10)) capacity.ended(request, true);
  expect(begin()).toEqual([]);
  for (; now < 20_000; now += 1_000) begin();
  expect(capacity.left).toBe(150);
  expect(capacity.room(newId<EndpointId>(), busy)).toBe(0);
  expect(capacity.room(newId<EndpointId>(), other)).toBe(20);
});

it('the bound of young requests doubles while it is used and the event loop has time left, and falls without use or time', () => {
  let [now, busy] = [0, 0.9];
  const bound = createYoungBound(
    2_000,
    () => busy,
    () => now,
  );
  /** The bound after so many milliseconds with so many young requests. */
  const after = (milliseconds: number, young: number): number => {
    bound(young);
    now += milliseconds;
    return bound(0);
  };
  expect([after(0, 150), after(200, 150)]).toEqual([200, 200]);
  busy = 0.6;
  expect([after(100, 150), after(100, 0)]).toEqual([200, 400]);
  expect([after(200, 300), after(200, 1_000), after(200, 2_000)]).toEqual([800, 1_600, 2_000]);
  expect([after(200, 100), after(1_000, 0), after(200, 0)]).toEqual([1_000, 500, 250]);
  expect(after(200, 150)).toBe(500);
  busy = 0.8;
  expect([after(100, 600), after(100, 600)]).toEqual([500, 200]);
});

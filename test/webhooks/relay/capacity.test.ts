import { expect, it } from 'vitest';
import { type EndpointId, newId, type WorkspaceId } from '../../../src/ids.ts';
import { createCapacity } from '../../../src/webhooks/relay/capacity.ts';

it('workspaces with any number of receivers that hang leave room for the next one', () => {
  const capacity = createCapacity();
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
  const capacity = createCapacity();
  const [one, other] = [newId<WorkspaceId>(), newId<WorkspaceId>()];
  const share = capacity.shareOut();
  const shared = Array.from({ length: 100 }, () => share(newId<EndpointId>(), one));
  expect(shared.reduce((sum, each) => sum + each, 0)).toBe(500);
  expect(share(newId<EndpointId>(), other)).toBe(20);
});

it('what an endpoint could take is remembered of the last 10,000, so that deleted ones fill no memory', () => {
  const capacity = createCapacity();
  const workspaceId = newId<WorkspaceId>();
  const ids = Array.from({ length: 10_001 }, () => newId<EndpointId>());
  for (const id of ids) {
    for (let request = 0; request < 20; request += 1) capacity.began(id, workspaceId);
    for (let request = 0; request < 20; request += 1) capacity.ended(id, workspaceId, true);
  }
  const [first, second] = ids;
  if (first === undefined || second === undefined) throw new Error('none');
  expect([first, second, ...ids.slice(-1)].map((id) => capacity.room(id, workspaceId))).toEqual([20, 40, 40]);
});

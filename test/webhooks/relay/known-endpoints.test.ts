import { expect, it } from 'vitest';
import { type EndpointId, newId, type WorkspaceId } from '../../../src/ids.ts';
import { createKnownEndpoints } from '../../../src/webhooks/relay/known-endpoints.ts';

it('a retry that was recorded while a claim was under way keeps its time, though the claim has not seen it', () => {
  const known = createKnownEndpoints();
  const [id, workspaceId] = [newId<EndpointId>(), newId<WorkspaceId>()];
  const claimedAt = performance.now();
  const dueAt = claimedAt + 30_000;
  const seen = { id, workspaceId, active: true, due: 0, nextDueIn: null, claimedUpTo: null };
  known.willBeDue(id, workspaceId, dueAt);
  known.saw(seen, false, claimedAt);
  expect(known.nextAfter(claimedAt)).toBe(dueAt);
  // A later one has seen whatever there is.
  known.saw(seen, false, performance.now() + 1);
  expect(known.nextAfter(claimedAt)).toBe(Number.POSITIVE_INFINITY);
});

it('what was committed late in a backlog is looked for as soon as the backlog is claimed', () => {
  const known = createKnownEndpoints();
  const [id, workspaceId] = [newId<EndpointId>(), newId<WorkspaceId>()];
  const seen = { id, workspaceId, active: true, due: 6, nextDueIn: null };
  const claimedUpTo = new Date();
  known.saw({ ...seen, claimedUpTo }, true, 1_000);
  expect(known.due(1_000)).toMatchObject([{ dueFrom: claimedUpTo }]);
  known.saw({ ...seen, due: 0, claimedUpTo: null }, false, 1_010);
  expect(known.due(1_020)).toMatchObject([{ dueFrom: new Date(claimedUpTo.getTime() - 2_000) }]);
  known.saw({ ...seen, due: 0, claimedUpTo: null }, false, 1_020);
  expect(known.due(1_030)).toEqual([]);
});

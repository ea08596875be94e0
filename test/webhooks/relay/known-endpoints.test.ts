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

import type { EndpointId } from '../../ids.ts';
import type { Capacity } from './capacity.ts';
import type { Candidate } from './claim.ts';
import type { KnownEndpoint, KnownEndpoints } from './known-endpoints.ts';

/** Deliveries of one claim. */
export const CLAIM_LIMIT = 500;
/** Endpoints with something due that one claim asks for. */
const MAX_DUE = 100;
/** Each may take so many at least, where there is room. */
const MIN_QUANTUM = 5;

export interface Choice {
  readonly now: number;
  /** Whether the claim looks for what is new: it then asks for endpoints that had something lately as well. */
  readonly isLook: boolean;
  /** Whether a burst takes what gets no run. */
  readonly isBurstOpen: boolean;
  /** Runs that may be started now. */
  readonly runs: number;
}

interface Sources {
  readonly known: Pick<KnownEndpoints, 'due' | 'recent'>;
  readonly capacity: Pick<Capacity, 'shareOut'>;
  readonly isHeld: (id: EndpointId) => boolean;
}

/**
 * The endpoints that one claim asks for, the least served first, and how many deliveries each may take. What a claim
 * costs grows neither with the endpoints that wait nor with those that had something lately: none is asked without room for
 * it, but by a look while no burst is open, since only who is asked is forgotten once deleted.
 */
export function chooseCandidates(
  { known, capacity, isHeld }: Sources,
  { now, isLook, isBurstOpen, runs }: Choice,
): Candidate[] {
  const due = known.due(now);
  const recent = isLook ? known.recent(now).filter(({ dueAt }) => dueAt > now) : [];
  const share = isBurstOpen ? capacity.shareOut() : () => 0;
  const quantum = Math.max(MIN_QUANTUM, Math.ceil(CLAIM_LIMIT / (due.length + recent.length)));
  const candidates: Candidate[] = [];
  const consider = ({ id, workspaceId, dueFrom }: KnownEndpoint, isOnlyIfNew: boolean) => {
    if (isHeld(id)) return;
    const room = share(id, workspaceId, quantum);
    const isAsked = room > 0 || runs > 0 || (isLook && !isBurstOpen && !isOnlyIfNew);
    if (isAsked) candidates.push({ endpointId: id, dueFrom, room, isOnlyIfNew });
  };
  for (const endpoint of due) {
    if (candidates.length === MAX_DUE) break;
    consider(endpoint, false);
  }
  for (const endpoint of recent) consider(endpoint, true);
  return candidates;
}

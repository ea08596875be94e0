import type { EndpointId, WorkspaceId } from '../../ids.ts';
import type { SeenEndpoint } from './claim.ts';

/**
 * A transaction that began earlier may commit later, with an older `due_at`: one that takes longer than this is found
 * by the next look from the beginning.
 */
const LATE_COMMITS_MS = 2_000;
/** After so long an endpoint is looked at from the beginning again. */
const FROM_THE_BEGINNING_MS = 10_000;

export interface KnownEndpoint {
  readonly id: EndpointId;
  readonly workspaceId: WorkspaceId;
  /** When the next delivery is due, on this process's monotonic clock, in milliseconds; it may be over. */
  dueAt: number;
  dueFrom: Date | '-infinity';
  lookedFromTheBeginningAt: number;
}

/** The endpoints that this process knows to have waiting deliveries, and when the next of each is due. */
export interface KnownEndpoints {
  /** Takes over what a claim has seen at `now`. @param more whether more than those claimed may be due */
  saw(endpoint: SeenEndpoint, more: boolean, now: number): void;
  /** A delivery of an endpoint will be due. */
  willBeDue(id: EndpointId, workspaceId: WorkspaceId, at: number): void;
  /** Those with something due at `now`, the one first that has not been asked for the longest. */
  due(now: number): KnownEndpoint[];
  /** When the next is due after `now`; Infinity when none is known. */
  nextAfter(now: number): number;
}

export function createKnownEndpoints(): KnownEndpoints {
  /** In the order in which they were seen: a Map keeps it, and what is seen again goes to its end. */
  const known = new Map<EndpointId, KnownEndpoint>();
  return {
    saw({ id, workspaceId, nextDueIn, claimedUpTo }, more, now) {
      const before = known.get(id);
      known.delete(id);
      if (!more && nextDueIn === null) return;
      const dueAt = more ? now : now + (nextDueIn ?? 0) * 1_000;
      const isStale = now - (before?.lookedFromTheBeginningAt ?? now) > FROM_THE_BEGINNING_MS;
      const watermark =
        claimedUpTo === null
          ? (before?.dueFrom ?? '-infinity')
          : new Date(claimedUpTo.getTime() - LATE_COMMITS_MS);
      known.set(id, {
        id,
        workspaceId,
        dueAt,
        dueFrom: isStale ? '-infinity' : watermark,
        lookedFromTheBeginningAt: isStale ? now : (before?.lookedFromTheBeginningAt ?? now),
      });
    },
    willBeDue(id, workspaceId, at) {
      const endpoint = known.get(id);
      if (endpoint !== undefined) endpoint.dueAt = Math.min(endpoint.dueAt, at);
      else known.set(id, { id, workspaceId, dueAt: at, dueFrom: '-infinity', lookedFromTheBeginningAt: at });
    },
    due: (now) => [...known.values()].filter(({ dueAt }) => dueAt <= now),
    nextAfter(now) {
      let next = Number.POSITIVE_INFINITY;
      for (const { dueAt } of known.values()) if (dueAt > now && dueAt < next) next = dueAt;
      return next;
    },
  };
}

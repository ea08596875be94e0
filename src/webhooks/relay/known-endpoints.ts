import type { EndpointId, WorkspaceId } from '../../ids.ts';
import { LATEST, type SeenEndpoint } from './claim.ts';

/**
 * A transaction that began earlier may commit later, with an older `due_at`: one that takes longer than this is found
 * by the next look from the beginning.
 */
const LATE_COMMITS_MS = 2_000;
/** In a backlog such late ones are looked for this often; in between, the next claim begins where the last one ended. */
const LOOK_BACK_MS = 500;
/**
 * After this long an endpoint is looked at from the beginning again. What was stored for one within this time is likely to
 * be followed by more.
 */
const RECENT_MS = 10_000;

export interface KnownEndpoint {
  readonly id: EndpointId;
  readonly workspaceId: WorkspaceId;
  /** When the next delivery is due, on this process's monotonic clock, in milliseconds; it may be over. */
  dueAt: number;
  /** When something was claimed of it last. */
  readonly claimedAt: number;
  /** Where to look from. */
  readonly dueFrom: Date | '-infinity';
  /** The same, where the next claim begins where the last one ended and so passes over what commits late; else null. */
  readonly exactly: Date | null;
  readonly lookedBackAt: number;
  readonly lookedFromTheBeginningAt: number;
  /** When this process said itself what will be due. */
  toldAt: number;
}

/** The endpoints that this process knows to have waiting deliveries, or had lately, and when the next of each is due. */
export interface KnownEndpoints {
  /** Takes over what a claim has seen at `now`. @param more whether more than those claimed may be due */
  saw(endpoint: SeenEndpoint, more: boolean, now: number): void;
  /** A claim has asked for it and found no such endpoint: it was deleted. */
  forget(id: EndpointId): void;
  /** A delivery of an endpoint will be due. */
  willBeDue(id: EndpointId, workspaceId: WorkspaceId, at: number): void;
  /** Those with something due at `now`, the one first that has not been asked for the longest. */
  due(now: number): KnownEndpoint[];
  /** Those that had something lately, the latest first. */
  recent(now: number): KnownEndpoint[];
  /** When the next is due after `now`; Infinity when none is known. */
  nextAfter(now: number): number;
}

const unseen = (id: EndpointId, workspaceId: WorkspaceId, now: number): KnownEndpoint => ({
  id,
  workspaceId,
  dueAt: Number.POSITIVE_INFINITY,
  claimedAt: Number.NEGATIVE_INFINITY,
  dueFrom: '-infinity',
  exactly: null,
  lookedBackAt: now,
  lookedFromTheBeginningAt: now,
  toldAt: Number.NEGATIVE_INFINITY,
});

export function createKnownEndpoints(): KnownEndpoints {
  /** In the order in which they were seen: a Map keeps it, and what is seen again goes to its end. */
  const known = new Map<EndpointId, KnownEndpoint>();
  return {
    saw({ id, workspaceId, nextDueIn, claimedUpTo }, more, now) {
      const before = known.get(id) ?? unseen(id, workspaceId, now);
      known.delete(id);
      const { dueFrom, lookedBackAt, lookedFromTheBeginningAt } = before;
      // What was recorded while the claim was under way, it has not seen.
      const toldOf = before.toldAt >= now ? before.dueAt : Number.POSITIVE_INFINITY;
      const nextDueAt = Math.min(toldOf, now + (nextDueIn ?? Number.POSITIVE_INFINITY) * 1_000);
      // After a backlog it is asked once more at once, for what was committed late.
      const dueAt = more ? now : before.exactly === null ? nextDueAt : now + 1;
      const claimedAt = claimedUpTo === null ? before.claimedAt : now;
      if (dueAt === Number.POSITIVE_INFINITY && now - claimedAt > RECENT_MS) return;
      const isStale = now - lookedFromTheBeginningAt > RECENT_MS;
      const isBacklog = more && now - lookedBackAt <= LOOK_BACK_MS;
      const upTo = claimedUpTo ?? (isBacklog ? null : before.exactly);
      const watermark = upTo && new Date(upTo.getTime() - (isBacklog ? 0 : LATE_COMMITS_MS));
      const exactly = upTo === null ? before.exactly : isBacklog ? upTo : null;
      known.set(id, {
        ...before,
        dueAt,
        claimedAt,
        dueFrom: isStale ? '-infinity' : (watermark ?? dueFrom),
        exactly: isStale ? null : exactly,
        lookedBackAt: isBacklog ? lookedBackAt : now,
        lookedFromTheBeginningAt: isStale ? now : lookedFromTheBeginningAt,
      });
    },
    forget(id) {
      known.delete(id);
    },
    willBeDue(id, workspaceId, at) {
      const endpoint = known.get(id) ?? unseen(id, workspaceId, at);
      endpoint.dueAt = Math.min(endpoint.dueAt, at);
      endpoint.toldAt = performance.now();
      known.set(id, endpoint);
    },
    due: (now) => [...known.values()].filter(({ dueAt }) => dueAt <= now),
    recent(now) {
      const recent: KnownEndpoint[] = [];
      for (const endpoint of [...known.values()].reverse()) {
        const isRecent = now - endpoint.claimedAt <= RECENT_MS;
        if (isRecent && recent.length < LATEST) recent.push(endpoint);
        else if (!isRecent && endpoint.dueAt === Number.POSITIVE_INFINITY) known.delete(endpoint.id);
      }
      return recent;
    },
    nextAfter(now) {
      let next = Number.POSITIVE_INFINITY;
      for (const { dueAt } of known.values()) if (dueAt > now && dueAt < next) next = dueAt;
      return next;
    },
  };
}

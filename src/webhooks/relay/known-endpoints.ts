import type { EndpointId, WorkspaceId } from '../../ids.ts';
import type { SeenEndpoint } from './claim.ts';

/**
 * A transaction may commit after later ones, with an older `due_at`. One that takes longer than this is found by the
 * next full scan.
 */
const LATE_COMMITS_MS = 2_000;
/** How often a backlog looks back for late commits; in between, the next claim begins where the last one ended. */
const LOOK_BACK_MS = 500;
/** How long an endpoint stays recent, with more deliveries likely; and how often it is scanned from the beginning. */
const RECENT_MS = 10_000;
/** Of those, a look may ask for so many. */
const MAX_RECENT = 200;
/** An endpoint that waited without being served, for lack of room, is that far behind the others at most. */
const MAX_CREDIT = 100;

export interface KnownEndpoint {
  readonly id: EndpointId;
  readonly workspaceId: WorkspaceId;
  /** When the next delivery is due, on this process's monotonic clock, in milliseconds; may be past. */
  dueAt: number;
  /** When something of it was last claimed. */
  readonly claimedAt: number;
  /** How far it has been served, in deliveries: who has been served least is next. */
  readonly level: number;
  /** Whether the last claim left something due. */
  readonly hasMore: boolean;
  /** Where the next claim begins. */
  readonly dueFrom: Date | '-infinity';
  /** Set in a backlog: the `due_at` where the next claim begins, which misses late commits. */
  readonly watermark: Date | null;
  readonly lastLookBackAt: number;
  readonly lastFullScanAt: number;
  /** When this process itself set `dueAt`. */
  dueSetAt: number;
}

/** Endpoints known to have waiting deliveries, or that had some lately, and when the next is due. */
export interface KnownEndpoints {
  /**
   * Applies what a claim saw at `now`.
   * @param more whether more than those claimed may be due
   * @param claimed how many it took
   * @param pacedUntil when its pace allows more; it is not due before
   */
  saw(
    endpoint: Omit<SeenEndpoint, 'unreadable' | 'paceIn'>,
    more: boolean,
    now: number,
    { claimed, pacedUntil }?: { readonly claimed?: number; readonly pacedUntil?: number },
  ): void;
  /** The claim found no such endpoint: it was deleted. */
  forget(id: EndpointId): void;
  /** A delivery of an endpoint will be due. */
  willBeDue(id: EndpointId, workspaceId: WorkspaceId, at: number): void;
  /** Those with something due at `now`, the least served first. */
  due(now: number): KnownEndpoint[];
  /** Those that had something lately, latest first. */
  recent(now: number): KnownEndpoint[];
  /** When the next is due after `now`; Infinity when none is known. */
  nextAfter(now: number): number;
}

const unseen = (id: EndpointId, workspaceId: WorkspaceId, now: number): KnownEndpoint => ({
  id,
  workspaceId,
  dueAt: Number.POSITIVE_INFINITY,
  claimedAt: Number.NEGATIVE_INFINITY,
  level: 0,
  hasMore: false,
  dueFrom: '-infinity',
  watermark: null,
  lastLookBackAt: now,
  lastFullScanAt: now,
  dueSetAt: Number.NEGATIVE_INFINITY,
});

/**
 * They take turns by start-time fair queueing: each delivery raises its endpoint's level by one, and one that had nothing
 * due begins at the level of the present turn. So those with a backlog get equally many, whatever one claim takes of each,
 * and a newcomer is next, without having saved up anything (contract.md W120).
 */
export function createKnownEndpoints(): KnownEndpoints {
  /** In the order in which they were last seen. */
  const known = new Map<EndpointId, KnownEndpoint>();
  /** The highest level at which one was served. */
  let turn = 0;
  return {
    saw({ id, workspaceId, nextDueIn, claimedUpTo }, more, now, { claimed = 0, pacedUntil = now } = {}) {
      const before = known.get(id) ?? unseen(id, workspaceId, now);
      known.delete(id);
      if (pacedUntil > now && claimedUpTo === null) {
        known.set(id, { ...before, dueAt: pacedUntil });
        return;
      }
      const { dueFrom, lastLookBackAt, lastFullScanAt } = before;
      // The claim did not see what was recorded while it ran.
      const dueSetLater = before.dueSetAt >= now ? before.dueAt : Number.POSITIVE_INFINITY;
      const nextDueAt = Math.min(dueSetLater, now + (nextDueIn ?? Number.POSITIVE_INFINITY) * 1_000);
      // After a backlog one more claim looks at once for late commits.
      const dueAt = more ? pacedUntil : before.watermark === null ? nextDueAt : now + 1;
      const claimedAt = claimedUpTo === null ? before.claimedAt : now;
      const start = Math.max(before.level, before.hasMore ? turn - MAX_CREDIT : turn);
      if (claimed > 0) turn = Math.max(turn, start);
      if (dueAt === Number.POSITIVE_INFINITY && now - claimedAt > RECENT_MS) return;
      const isStale = now - lastFullScanAt > RECENT_MS;
      const isBacklog = more && now - lastLookBackAt <= LOOK_BACK_MS;
      const upTo = claimedUpTo ?? (isBacklog ? null : before.watermark);
      const nextFrom = upTo && new Date(upTo.getTime() - (isBacklog ? 0 : LATE_COMMITS_MS));
      const watermark = upTo === null ? before.watermark : isBacklog ? upTo : null;
      known.set(id, {
        ...before,
        dueAt,
        claimedAt,
        level: claimed > 0 ? start + claimed : before.level,
        hasMore: more,
        dueFrom: isStale ? '-infinity' : (nextFrom ?? dueFrom),
        watermark: isStale ? null : watermark,
        lastLookBackAt: isBacklog ? lastLookBackAt : now,
        lastFullScanAt: isStale ? now : lastFullScanAt,
      });
    },
    forget(id) {
      known.delete(id);
    },
    willBeDue(id, workspaceId, at) {
      const endpoint = known.get(id) ?? unseen(id, workspaceId, at);
      endpoint.dueAt = Math.min(endpoint.dueAt, at);
      endpoint.dueSetAt = performance.now();
      known.set(id, endpoint);
    },
    due: (now) =>
      [...known.values()].filter(({ dueAt }) => dueAt <= now).sort((one, other) => one.level - other.level),
    recent(now) {
      const recent: KnownEndpoint[] = [];
      for (const endpoint of [...known.values()].reverse()) {
        const isRecent = now - endpoint.claimedAt <= RECENT_MS;
        if (isRecent && recent.length < MAX_RECENT) recent.push(endpoint);
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

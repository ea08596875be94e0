import type { EndpointId, WorkspaceId } from '../../ids.ts';

/** Requests in flight to one endpoint that are always allowed, so that the schedule can be kept. */
const MIN_CAP = 20;
/** The upper bound for an endpoint that keeps up. */
const MAX_CAP = 256;
/** Requests in flight of one worker, and of one workspace in it. */
const MAX_IN_FLIGHT = 2_000;
const MAX_IN_FLIGHT_PER_WORKSPACE = 500;
/** Idle endpoints whose cap is remembered. */
const MAX_REMEMBERED = 10_000;

interface EndpointLoad {
  inFlight: number;
  cap: number;
  /** Successes in a row while the cap was reached. */
  successesInARow: number;
  /** Whether the cap still doubles: no attempt has failed so far. */
  isRising: boolean;
}

/** What this worker has in flight through bursts, and what it may add. */
export interface Capacity {
  /** How many more deliveries of an endpoint may be taken. */
  room(endpointId: EndpointId, workspaceId: WorkspaceId): number;
  /** Like `room`, up to `most`, but counts what it has given as taken: for many endpoints in one claim. */
  shareOut(): (endpointId: EndpointId, workspaceId: WorkspaceId, most?: number) => number;
  /** What is left for the worker. */
  readonly left: number;
  began(endpointId: EndpointId, workspaceId: WorkspaceId): void;
  /** @param well false for an outcome that is retried */
  ended(endpointId: EndpointId, workspaceId: WorkspaceId, well: boolean): void;
}

/**
 * Each endpoint has an adaptive cap: it doubles with each full round until the first failure, then grows by one; every
 * outcome that is retried halves it. A receiver that recovers meets a few requests, not its whole backlog.
 * @param maxInFlight requests in flight of the worker
 */
export function createCapacity(maxInFlight = MAX_IN_FLIGHT): Capacity {
  const endpoints = new Map<EndpointId, EndpointLoad>();
  const workspaces = new Map<WorkspaceId, number>();
  let inFlight = 0;
  const count = (workspaceId: WorkspaceId, change: 1 | -1) => {
    inFlight += change;
    const of = (workspaces.get(workspaceId) ?? 0) + change;
    if (of === 0) workspaces.delete(workspaceId);
    else workspaces.set(workspaceId, of);
  };
  const loadOf = (id: EndpointId): EndpointLoad =>
    endpoints.get(id) ?? { inFlight: 0, cap: MIN_CAP, successesInARow: 0, isRising: true };
  /** Drops the endpoint that has been idle longest. */
  const dropOldestIdle = () => {
    const [oldest] = endpoints;
    if (oldest === undefined) return;
    endpoints.delete(oldest[0]);
    if (oldest[1].inFlight > 0) endpoints.set(...oldest);
  };
  const shareOut = () => {
    const given = new Map<WorkspaceId, number>();
    let left = maxInFlight - inFlight;
    return (endpointId: EndpointId, workspaceId: WorkspaceId, most = Number.POSITIVE_INFINITY) => {
      const load = loadOf(endpointId);
      const taken = given.get(workspaceId) ?? workspaces.get(workspaceId) ?? 0;
      // A workspace holds at most what it leaves free, so that the next one always gets some.
      const fair = Math.floor((left - taken + 1) / 2);
      const share = Math.max(
        0,
        Math.min(load.cap - load.inFlight, MAX_IN_FLIGHT_PER_WORKSPACE - taken, fair, most),
      );
      given.set(workspaceId, taken + share);
      left -= share;
      return share;
    };
  };
  return {
    get left() {
      return maxInFlight - inFlight;
    },
    room: (endpointId, workspaceId) => shareOut()(endpointId, workspaceId),
    shareOut,
    began(endpointId, workspaceId) {
      count(workspaceId, 1);
      const load = loadOf(endpointId);
      load.inFlight += 1;
      endpoints.set(endpointId, load);
    },
    ended(endpointId, workspaceId, well) {
      count(workspaceId, -1);
      const load = loadOf(endpointId);
      const wasFull = load.inFlight >= load.cap;
      load.inFlight -= 1;
      if (!well) {
        load.cap = Math.max(MIN_CAP, Math.floor(load.cap / 2));
        load.isRising = false;
      }
      load.successesInARow = well && (wasFull || load.successesInARow > 0) ? load.successesInARow + 1 : 0;
      if (load.successesInARow >= load.cap) {
        load.cap = Math.min(MAX_CAP, load.isRising ? 2 * load.cap : load.cap + 1);
        load.successesInARow = 0;
      }
      if (load.inFlight > 0) return;
      endpoints.delete(endpointId);
      if (load.cap > MIN_CAP) endpoints.set(endpointId, load);
      if (endpoints.size > MAX_REMEMBERED) dropOldestIdle();
    },
  };
}

import type { EndpointId, WorkspaceId } from '../../ids.ts';

/** Requests in flight to one endpoint that are always allowed, so that the schedule can be kept. */
const LEAST = 20;
/** And the most, for one that keeps up. */
const MOST = 256;
/** Requests in flight of one worker, and those of one workspace among them. */
const IN_ALL = 2_000;
const OF_A_WORKSPACE = 500;
/** Endpoints of which it is remembered what they can take, besides those that have requests in flight. */
const REMEMBERED = 10_000;

interface EndpointLoad {
  inFlight: number;
  cap: number;
  /** Attempts that went well in a row while the cap was reached. */
  wellInARow: number;
  /** Whether the cap still doubles: no outcome was to be tried again so far. */
  isRising: boolean;
}

/** What this worker has in flight through bursts, and how much more it may have. */
export interface Capacity {
  /** How many more deliveries of an endpoint may be taken. */
  room(endpointId: EndpointId, workspaceId: WorkspaceId): number;
  /** A function like `room` that counts what it has given as taken: for many endpoints in one claim. */
  shareOut(): (endpointId: EndpointId, workspaceId: WorkspaceId) => number;
  /** How many more in all. */
  readonly left: number;
  began(endpointId: EndpointId, workspaceId: WorkspaceId): void;
  /** @param well false for an outcome that is tried again */
  ended(endpointId: EndpointId, workspaceId: WorkspaceId, well: boolean): void;
}

/**
 * Each endpoint has a cap of its own that follows how it does: it doubles with each full round without a failure until
 * the first one, and grows by one from then on; every outcome that is tried again halves it. So a receiver that recovers
 * meets a few requests, not all that wait.
 * @param inAll requests in flight of the worker
 */
export function createCapacity(inAll = IN_ALL): Capacity {
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
    endpoints.get(id) ?? { inFlight: 0, cap: LEAST, wellInARow: 0, isRising: true };
  /** The one that idles for longest is the first of those that idle. */
  const forgetOldest = () => {
    const [oldest] = endpoints;
    if (oldest === undefined) return;
    endpoints.delete(oldest[0]);
    if (oldest[1].inFlight > 0) endpoints.set(...oldest);
  };
  const shareOut = () => {
    const given = new Map<WorkspaceId, number>();
    let left = inAll - inFlight;
    return (endpointId: EndpointId, workspaceId: WorkspaceId) => {
      const load = loadOf(endpointId);
      const taken = given.get(workspaceId) ?? workspaces.get(workspaceId) ?? 0;
      // What it holds is no more than it leaves, so that there is always something for the next workspace.
      const fair = Math.floor((left - taken + 1) / 2);
      const share = Math.max(0, Math.min(load.cap - load.inFlight, OF_A_WORKSPACE - taken, fair));
      given.set(workspaceId, taken + share);
      left -= share;
      return share;
    };
  };
  return {
    get left() {
      return inAll - inFlight;
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
        load.cap = Math.max(LEAST, Math.floor(load.cap / 2));
        load.isRising = false;
      }
      load.wellInARow = well && (wasFull || load.wellInARow > 0) ? load.wellInARow + 1 : 0;
      if (load.wellInARow >= load.cap) {
        load.cap = Math.min(MOST, load.isRising ? 2 * load.cap : load.cap + 1);
        load.wellInARow = 0;
      }
      if (load.inFlight > 0) return;
      endpoints.delete(endpointId);
      if (load.cap > LEAST) endpoints.set(endpointId, load);
      if (endpoints.size > REMEMBERED) forgetOldest();
    },
  };
}

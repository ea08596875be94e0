import type { EndpointId, WorkspaceId } from '../../ids.ts';
import { createYoungBound } from './young-bound.ts';

/** Requests in flight to one endpoint that are always allowed, so that the schedule can be kept. */
const MIN_CAP = 20;
/** The upper bound for an endpoint that keeps up. */
const MAX_CAP = 256;
/** Requests in flight of one worker, and of one workspace in it. */
const MAX_IN_FLIGHT = 2_000;
const MAX_IN_FLIGHT_PER_WORKSPACE = 500;
/** A request that takes longer waits for its receiver, and costs the worker nothing meanwhile. */
const YOUNG_MS = 1_000;
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

/** A request in flight. */
export interface InFlight {
  readonly endpointId: EndpointId;
  readonly workspaceId: WorkspaceId;
  readonly beganAt: number;
}

/** Requests in flight, and those of them that began within the last second. */
interface Load {
  readonly all: number;
  readonly young: number;
}

export interface CapacityOptions {
  /** Requests in flight of the worker. */
  readonly maxInFlight?: number;
  /** How many young requests the worker may have now, given how many it has. */
  readonly mostYoung?: (young: number) => number;
  /** In milliseconds. */
  readonly clock?: () => number;
}

/** What this worker has in flight through bursts, and what it may add. */
export interface Capacity {
  /** How many more deliveries of an endpoint may be taken. */
  room(endpointId: EndpointId, workspaceId: WorkspaceId): number;
  /** Like `room`, up to `most`, but counts what it has given as taken: for many endpoints in one claim. */
  shareOut(): (endpointId: EndpointId, workspaceId: WorkspaceId, most?: number) => number;
  /** What is left for the worker. */
  readonly left: number;
  began(endpointId: EndpointId, workspaceId: WorkspaceId): InFlight;
  /** @param well false for an outcome that is retried */
  ended(request: InFlight, well: boolean): void;
}

/**
 * Each endpoint has an adaptive cap: it doubles with each full round until the first failure, then grows by one; every
 * outcome that is retried halves it. A receiver that recovers meets a few requests, not its whole backlog.
 */
export function createCapacity({
  maxInFlight = MAX_IN_FLIGHT,
  mostYoung = createYoungBound(maxInFlight),
  clock = () => performance.now(),
}: CapacityOptions = {}): Capacity {
  const endpoints = new Map<EndpointId, EndpointLoad>();
  const workspaces = new Map<WorkspaceId, Load>();
  /** In the order in which they began. */
  const young = new Set<InFlight>();
  let inFlight = 0;
  const ofWorkspace = (id: WorkspaceId): Load => workspaces.get(id) ?? { all: 0, young: 0 };
  const count = (id: WorkspaceId, change: Load) => {
    inFlight += change.all;
    const before = ofWorkspace(id);
    const after = { all: before.all + change.all, young: before.young + change.young };
    if (after.all === 0) workspaces.delete(id);
    else workspaces.set(id, after);
  };
  const age = () => {
    const since = clock() - YOUNG_MS;
    for (const request of young) {
      if (request.beganAt > since) return;
      young.delete(request);
      count(request.workspaceId, { all: 0, young: -1 });
    }
  };
  /** What the worker may add. */
  const free = (): Load => {
    age();
    return { all: maxInFlight - inFlight, young: mostYoung(young.size) - young.size };
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
    const left = free();
    let shared = 0;
    return (endpointId: EndpointId, workspaceId: WorkspaceId, most = Number.POSITIVE_INFINITY) => {
      const load = loadOf(endpointId);
      const taken = ofWorkspace(workspaceId);
      const added = given.get(workspaceId) ?? 0;
      // A workspace holds at most what it leaves free, so that the next one always gets some.
      const fairOf = (kind: keyof Load) => Math.floor((left[kind] - shared - taken[kind] - added + 1) / 2);
      const ofWorker = Math.min(fairOf('all'), fairOf('young'));
      const own = Math.min(load.cap - load.inFlight, MAX_IN_FLIGHT_PER_WORKSPACE - taken.all - added);
      const share = Math.max(0, Math.min(ofWorker, own, most));
      given.set(workspaceId, added + share);
      shared += share;
      return share;
    };
  };
  return {
    get left() {
      const { all, young } = free();
      return Math.max(0, Math.min(all, young));
    },
    room: (endpointId, workspaceId) => shareOut()(endpointId, workspaceId),
    shareOut,
    began(endpointId, workspaceId) {
      const request = { endpointId, workspaceId, beganAt: clock() };
      young.add(request);
      count(workspaceId, { all: 1, young: 1 });
      const load = loadOf(endpointId);
      load.inFlight += 1;
      endpoints.set(endpointId, load);
      return request;
    },
    ended(request, well) {
      const { endpointId, workspaceId } = request;
      count(workspaceId, { all: -1, young: young.delete(request) ? -1 : 0 });
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

import type { EndpointId } from '../../ids.ts';
import { OPEN_FIRST_ATTEMPTS, OPEN_IN_A_BURST } from '../outbox/limits.ts';
import type { BurstDelivery } from './claim.ts';

/** First attempts of a burst that are open at once, over all endpoints. */
const MOST_OPEN = 256;
/** An endpoint that ends none of its open attempts for so long is given up, so that the burst can end without it. */
const STALLED_MS = 1_000;
/** With so few waiting, an endpoint is claimed for again, so that its places never stay empty. */
const LOW = OPEN_IN_A_BURST;
/** How much more is claimed of an endpoint for each attempt that it has ended: a slow one is not given much to hold. */
const TRUST = 4;

interface Lane {
  readonly waiting: BurstDelivery[];
  open: number;
  ended: number;
  lastEndedAt: number;
}

/** The deliveries of a burst by endpoint, and which of them may be sent now. */
export interface Lanes {
  /** Deliveries that have not been started. */
  readonly waiting: number;
  add(deliveries: readonly BurstDelivery[]): void;
  /** Takes out what waits for endpoints that hang, or everything. */
  giveUp(which: 'stalled' | 'all'): BurstDelivery[];
  /** Endpoints to claim nothing of: given up, or with enough waiting. */
  supplied(): EndpointId[];
  /** How much to claim of an endpoint at most, by how fast it has been. */
  limits(): Map<EndpointId, number>;
  /** Resolves when every delivery that was started has ended. */
  settled(): Promise<void>;
}

/**
 * Starts deliveries as they are added and as others end: at most ten of one endpoint at once, so that one that
 * hangs takes no more than its own places.
 * @param send makes one attempt; it never rejects
 * @param onLow called when an endpoint has only a few left
 */
export function createLanes(send: (delivery: BurstDelivery) => Promise<void>, onLow: () => void): Lanes {
  const lanes = new Map<EndpointId, Lane>();
  const stalled = new Set<EndpointId>();
  const running = new Set<Promise<void>>();
  let waiting = 0;

  function start(lane: Lane, delivery: BurstDelivery): void {
    lane.open += 1;
    waiting -= 1;
    const one = send(delivery).finally(() => {
      running.delete(one);
      lane.open -= 1;
      lane.ended += 1;
      lane.lastEndedAt = performance.now();
      if (running.size === MOST_OPEN - 1) fill(neediest() ?? lane);
      else fill(lane);
    });
    running.add(one);
    if (lane.waiting.length === LOW) onLow();
  }

  /** The lane with the fewest open attempts among those where somebody waits. */
  function neediest(): Lane | undefined {
    let found: Lane | undefined;
    for (const lane of lanes.values()) {
      if (lane.waiting.length > 0 && (found === undefined || lane.open < found.open)) found = lane;
    }
    return found;
  }

  function fill(lane: Lane): void {
    while (lane.open < OPEN_IN_A_BURST && running.size < MOST_OPEN) {
      const delivery = lane.waiting.shift();
      if (delivery === undefined) return;
      start(lane, delivery);
    }
  }

  return {
    supplied: () => [
      ...stalled,
      ...[...lanes].filter(([, lane]) => lane.waiting.length > LOW).map(([endpointId]) => endpointId),
    ],
    limits: () =>
      new Map([...lanes].map(([endpointId, { ended }]) => [endpointId, OPEN_FIRST_ATTEMPTS + TRUST * ended])),
    get waiting() {
      return waiting;
    },
    add(deliveries) {
      waiting += deliveries.length;
      const touched = new Set<Lane>();
      for (const delivery of deliveries) {
        const lane = lanes.get(delivery.endpointId) ?? { waiting: [], open: 0, ended: 0, lastEndedAt: 0 };
        if (lane.open === 0 && lane.waiting.length === 0) lane.lastEndedAt = performance.now();
        lane.waiting.push(delivery);
        lanes.set(delivery.endpointId, lane);
        touched.add(lane);
      }
      for (const lane of touched) fill(lane);
    },
    giveUp(which) {
      const given: BurstDelivery[] = [];
      for (const [endpointId, lane] of lanes) {
        const hangs = performance.now() - lane.lastEndedAt > STALLED_MS;
        if (lane.waiting.length === 0 || (which === 'stalled' && !hangs)) continue;
        // One that never had a place is handed back too, but not to blame.
        if (which === 'stalled' && lane.open > 0) stalled.add(endpointId);
        given.push(...lane.waiting.splice(0));
      }
      waiting -= given.length;
      return given;
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

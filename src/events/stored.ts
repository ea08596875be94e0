import { randomUUID } from 'node:crypto';

/** Process-wide signals: whoever stores events calls `notify` after the commit, relays and sequencers subscribe. */

/**
 * The Postgres channels of the same signals between processes. A notice means "look", whatever its payload; one of
 * deliveries says that there are new events as well.
 */
export const DELIVERIES_CHANNEL = 'webhook_deliveries';
export const EVENTS_CHANNEL = 'events';

/** The payload of this process's notices, so that its own loops, already notified, ignore them. */
export const OWN_NOTICE: string = randomUUID();

export interface Signal {
  readonly notify: () => void;
  /** `listener` must not throw. @returns a function that unsubscribes */
  readonly subscribe: (listener: () => void) => () => void;
}

function createSignal(): Signal {
  const listeners = new Set<() => void>();
  return {
    notify() {
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      // A new function each time, so that two subscriptions of one listener are independent.
      const own = () => listener();
      listeners.add(own);
      return () => {
        listeners.delete(own);
      };
    },
  };
}

/** Events without deliveries were committed here: `afterCommit(tx, eventsStored.notify)`. Sent on to other processes. */
export const eventsStored: Signal = createSignal();

/** The same for events with deliveries, or a frozen list of articles. */
export const deliveriesStored: Signal = createSignal();

/** Another process has stored events, or some were found that have no number: for the sequencer of this process. */
export const eventsQueued: Signal = createSignal();

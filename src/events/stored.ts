import { randomUUID } from 'node:crypto';

/** Process-wide: transactions that store deliveries call `notify` after their commit, and relays subscribe. */

/** The Postgres channel of the same notices between processes. A notice means "look", whatever its payload. */
export const DELIVERIES_CHANNEL = 'webhook_deliveries';

/** The payload of this process's notices, so that its own relay, already notified, ignores them. */
export const OWN_NOTICE: string = randomUUID();

const listeners = new Set<() => void>();

export const deliveriesStored = {
  /** Deliveries, or a frozen list of articles, were committed: `afterCommit(tx, deliveriesStored.notify)`. */
  notify(): void {
    for (const listener of listeners) listener();
  },

  /** `listener` must not throw. @returns a function that unsubscribes */
  subscribe(listener: () => void): () => void {
    // A new function each time, so that two subscriptions of one listener are independent.
    const own = () => listener();
    listeners.add(own);
    return () => {
      listeners.delete(own);
    };
  },
};

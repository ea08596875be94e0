import { randomUUID } from 'node:crypto';

/** Process-wide: transactions that store deliveries say so here once they have committed, and relays listen. */

/** The channel of Postgres on which other processes say the same. A notice means "look", whatever it says. */
export const DELIVERIES_CHANNEL = 'webhook_deliveries';

/** What this process's notices say, so that its relay, which was told at once, does not look a second time. */
export const OWN_NOTICE: string = randomUUID();

const listeners = new Set<() => void>();

export const deliveriesStored = {
  /** Deliveries, or a list of articles to make some of, were committed: `afterCommit(tx, deliveriesStored.notify)`. */
  notify(): void {
    for (const listener of listeners) listener();
  },

  /** `listener` must not throw. @returns how to stop it */
  subscribe(listener: () => void): () => void {
    // A function of its own, so that who subscribes twice is called twice and stops each by itself.
    const own = () => listener();
    listeners.add(own);
    return () => {
      listeners.delete(own);
    };
  },
};

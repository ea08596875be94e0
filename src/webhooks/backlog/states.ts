/**
 * An endpoint with very many open deliveries is behind: the event log keeps what it still has to get, and its deliveries
 * are queued from there as others end. A row of `webhook_backlogs` is its mark.
 *
 *     no mark ─────► behind ─────────────────► closing ───────────────► no mark
 *         more than 10,000 open ▲   all of the log is queued,  │  no event relies on the mark any more,
 *                               │   and fewer than 5,000 open  │  and the rest of the log is queued
 *                               └──────────────────────────────┘
 *                                    more than 10,000 open
 *
 * - behind: the statement that stores an event queues nothing for the endpoint, and names it in `events.behind` instead.
 *   So each event is in exactly one of two ways, decided by that one statement, and nobody has to look whether a
 *   delivery is there already.
 * - The refill walks along the log, from the number `behind_from` on, and queues the events that name the endpoint. What
 *   it queues and how far it has come is one statement: a crash leaves all of it or nothing.
 * - What relied on the mark has a number above the one that the mark began with: numbers are given after the commit.
 * - closing: statements that begin now queue deliveries themselves. Those that began before hold the mark FOR KEY SHARE
 *   until they commit. So who gets it FOR UPDATE sees all of them, in the log or in its queue, and removes the mark when
 *   none names the endpoint. A statement that finds it gone after that queues its deliveries itself.
 * - Who marks, refills or closes holds the endpoint's row FOR NO KEY UPDATE: one at a time, and not beside a redelivery.
 *   No event waits for that lock. Locks are taken with SKIP LOCKED: no worker waits either.
 *
 * The refill passes over what is too old, and all of it while the endpoint is disabled. These events are named by
 * `events.behind` and have no delivery; `webhook_missed` has the part of the log they are in, for the redelivery.
 */

/** How many deliveries wait in the table of open ones, and how much of the log one step takes. */
export interface BacklogBounds {
  /** An endpoint with more open deliveries is behind. */
  readonly mark: number;
  /** With fewer it is refilled. */
  readonly refill: number;
  /** Deliveries that one step queues. */
  readonly queued: number;
  /** Events of the log that it looks at. */
  readonly looked: number;
}

/** contract.md W100. */
export const BACKLOG_BOUNDS: BacklogBounds = { mark: 10_000, refill: 5_000, queued: 5_000, looked: 10_000 };

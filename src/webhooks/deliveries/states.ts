import { type RawBuilder, sql } from 'kysely';
import type { BurstId } from '../../ids.ts';

/**
 * Who holds a delivery. This is all the state there is: an open delivery is a row of `webhook_open`, and an ended one a
 * row of `webhook_log`, where nothing changes any more. No open row means: ended.
 *
 *                    claim                        a response or a failure
 *     stored ─► free ─────► burst ──────────────────────────────┬─► ended (logged only if its endpoint still exists)
 *                ▲            │ attempts left, or burst is lost  │
 *                └────────────┘                                 │
 *               free ─────► run ────────────────────────────────┘
 *                    claim      a run keeps it over all its attempts, and never gives it back
 *
 * - free (neither `in_run` nor `burst_id`): waits until `due_at`, which only Postgres's clock sets and compares. Each
 *   worker's relay claims what is due. No process holds a free delivery, so a crash loses nothing.
 * - run (`in_run`): belongs to the one workflow `webhook-delivery-<id>`. The row says so before the run is started. The
 *   relay that claimed it repeats the start; a relay that never received the response to its claim starts every due row
 *   marked `in_run`. When that relay has died, `reconcile` finds the row two minutes after `due_at`, and starts the run
 *   if Temporal does not know it. If the run was stopped from outside, it ends the delivery.
 * - burst (`burst_id`): belongs to a run that sends whatever is due, as long as its row in `webhook_bursts` exists.
 *   Claims hold that row FOR KEY SHARE and whoever frees a burst deletes it first, so nothing is claimed for a burst
 *   that is gone. It is freed at its end, by the next execution after a lost worker, and by `reconcile`. Only its own
 *   process, which waits for the claims under way for it, knows what there is to free; the others read all that is open.
 *
 * One statement begins an attempt: the claim for a burst, whose requests follow at once, and for a run the last before its
 * request is written or, if the dial failed, one after the dial. A claim more than a second old is confirmed by such a
 * one, and so is each redirect. It requires the holder and a living, active endpoint, and leaves the attempt's number and
 * a token in `begun` and `begun_token`. Whoever frees a delivery whose attempt has begun takes it back (lost.ts): it has no
 * outcome, though its request may have been sent, and is made again under its number. Such a delivery is a suspect, since it
 * may have ended its worker: `losses` counts, and it stays `parked`, free or in its run, until a relay releases it. Only the
 * end of a burst in its own process knows which deliveries it was never given, as when a claim's response was lost. An attempt whose secret can't be read sent nothing, and is taken back under its number
 * and token. A failure is recorded only under the number and token it began with. A 2xx requires an
 * open row and nothing else: whatever came in between, it was delivered.
 *
 * Nothing begins for an endpoint that is paused, or whose workspace is deleted or suspended (`silenced_at`): it is not
 * claimed from, and a run waits. An attempt that has begun goes on. The same for an endpoint whose pace has it wait
 * (pace/pace.ts).
 */

/** SQL over a row of `webhook_open` called `delivery`. */
export const isFree: RawBuilder<boolean> = sql`NOT delivery.in_run AND delivery.burst_id IS NULL`;
/** SQL over the same row: free, and not waiting for its release after a loss. */
export const isClaimable: RawBuilder<boolean> = sql`${isFree} AND NOT delivery.parked`;

/**
 * SQL: FROM and WHERE of the event of `delivery`, for a LATERAL with a LIMIT: one lookup for each, whatever Postgres believes
 * a partition to hold. The workspace is named for the plan of a partition that was analyzed while empty, which takes the
 * index of workspaces and would skip from one of them to the next.
 */
export const eventOf = (delivery: string): RawBuilder<unknown> => sql`
  FROM events WHERE events.id = ${sql.ref(`${delivery}.event_id`)} AND events.created_at = ${sql.ref(`${delivery}.event_created_at`)}
    AND events.workspace_id = ${sql.ref(`${delivery}.workspace_id`)} LIMIT 1`;

/** May begin attempts of a delivery: its run, or the burst that has claimed it. */
export type Holder = { readonly kind: 'run' } | { readonly kind: 'burst'; readonly burstId: BurstId };

/** SQL: whether the burst holds the row, or with null its own run. */
export const isHeldBy = (burstId: BurstId | null): RawBuilder<boolean> => sql`
  delivery.in_run = (${burstId}::uuid IS NULL) AND delivery.burst_id IS NOT DISTINCT FROM ${burstId}::uuid`;

/** SQL over a row of `webhook_endpoints` called `endpoint`. */
export const isLiving: RawBuilder<boolean> = sql`endpoint.deleted_at IS NULL`;
/** SQL over the same row: it is not paused, and its workspace is neither deleted nor suspended. */
export const isHeard: RawBuilder<boolean> = sql`(endpoint.silenced_at IS NULL AND endpoint.paused_at IS NULL)`;

export const ENDPOINT_DELETED = 'endpoint deleted';
export const ENDPOINT_DISABLED = 'endpoint disabled';
export const STOPPED_BY_OPERATOR = 'stopped by an operator';
/** Of a delivery that was the only suspect in flight each time. */
export const LOST_ALONE = 'The worker was lost three times while it made this attempt.';
/** Of a delivery that was open for too long. */
export const tooOld = (maxAgeSeconds: number): string =>
  `not delivered within ${Math.round(maxAgeSeconds / 36) / 100} hours`;

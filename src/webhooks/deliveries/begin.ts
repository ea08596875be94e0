import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { prepare, type Slots } from '../../db/prepared.ts';
import { retryingConflicts } from '../../db/transaction.ts';
import type { BurstId, DeliveryId } from '../../ids.ts';
import { ENDPOINT_DELETED, ENDPOINT_DISABLED, type Holder, isHeard, isHeldBy, isLiving } from './states.ts';

/** An attempt about to be made. */
export interface AttemptStart {
  readonly deliveryId: DeliveryId;
  /** 1 to 6. */
  readonly number: number;
  /** A UUID of this execution. Only the same token may begin the same number again. */
  readonly token: string;
}

/** Whether the request may be written now; `stored` is the endpoint's secret as the table has it. */
export type Begun =
  | { readonly kind: 'begun'; readonly stored: string }
  /** Nothing may be sent: the delivery has ended, or its endpoint is deleted or disabled. */
  | { readonly kind: 'stopped'; readonly reason: string }
  /** Nothing begins while the endpoint is paused, or the workspace deleted or suspended. */
  | { readonly kind: 'silenced' }
  /** The delivery, or this attempt, belongs to another holder. The caller drops it. */
  | { readonly kind: 'superseded' };

type Values = Readonly<{ ids: DeliveryId[]; numbers: number[]; tokens: string[]; burstId: BurstId | null }>;

const begin = prepare('begin_attempts', (_db, slot: Slots<Values>) => {
  const isHeld = isHeldBy(slot('burstId'));
  return sql<{ stored: string | null; reason: string | null; silenced: boolean | null }>`
    WITH start AS (
      SELECT * FROM unnest(${slot('ids')}::uuid[], ${slot('numbers')}::smallint[], ${slot('tokens')}::uuid[])
        WITH ORDINALITY AS start (id, number, token, position)
    ), begun AS (
      UPDATE webhook_open AS delivery SET begun = start.number, begun_token = start.token
      FROM start
      WHERE delivery.id = start.id AND delivery.id = ANY (${slot('ids')}::uuid[]) AND ${isHeld}
        AND delivery.attempts < start.number AND (delivery.begun < start.number
          OR delivery.begun = start.number AND delivery.begun_token = start.token)
        AND (SELECT active AND ${isLiving} AND (${isHeard} OR delivery.begun = start.number)
          FROM webhook_endpoints AS endpoint WHERE endpoint.id = delivery.endpoint_id)
      RETURNING delivery.id, (SELECT secret FROM webhook_endpoints WHERE id = delivery.endpoint_id) AS stored
    )
    SELECT begun.stored, CASE WHEN delivery.id IS NULL THEN 'delivery ended'
      WHEN NOT ${isLiving} THEN ${ENDPOINT_DELETED}
      WHEN ${isHeld} AND NOT endpoint.active THEN ${ENDPOINT_DISABLED} END AS reason,
      ${isHeld} AND delivery.attempts < start.number AND delivery.begun < start.number AND NOT ${isHeard} AS silenced
    FROM start
    LEFT JOIN begun ON begun.id = start.id
    LEFT JOIN LATERAL (SELECT * FROM webhook_open WHERE webhook_open.id = start.id LIMIT 1) AS delivery ON true
    LEFT JOIN LATERAL (
      SELECT * FROM webhook_endpoints WHERE webhook_endpoints.id = delivery.endpoint_id LIMIT 1) AS endpoint ON true
    ORDER BY start.position`;
});

/**
 * The last statement before each request. Marks attempts as begun where the holder has the delivery and its endpoint is
 * living and active; none begins while that is paused, or its workspace deleted or suspended. A redirect calls it again, and passes only
 * with the same number and token.
 * @returns one for each start, in their order
 */
export async function beginAttempts(
  db: Database,
  holder: Holder,
  starts: readonly AttemptStart[],
): Promise<Begun[]> {
  const values = {
    ids: starts.map(({ deliveryId }) => deliveryId),
    numbers: starts.map(({ number }) => number),
    tokens: starts.map(({ token }) => token),
    burstId: holder.kind === 'run' ? null : holder.burstId,
  };
  const rows = await retryingConflicts(() => begin(db, values));
  return rows.map(({ stored, reason, silenced }) => {
    if (stored !== null) return { kind: 'begun', stored };
    if (reason === null && silenced === true) return { kind: 'silenced' };
    return reason === null ? { kind: 'superseded' } : { kind: 'stopped', reason };
  });
}

/**
 * Takes back an attempt that began and sent nothing, since its endpoint's secret can't be read (contract.md D25). A run
 * keeps its delivery; one of a burst is free again, and due for whichever worker can read the secret.
 */
export async function takeBack(
  db: Database,
  holder: Holder,
  { deliveryId, number, token }: AttemptStart,
): Promise<void> {
  const isHeld = isHeldBy(holder.kind === 'run' ? null : holder.burstId);
  await retryingConflicts(() =>
    sql`UPDATE webhook_open AS delivery SET begun = ${number - 1}, begun_token = NULL, burst_id = NULL
      WHERE delivery.id = ${deliveryId} AND ${isHeld}
        AND delivery.begun = ${number} AND delivery.begun_token = ${token}`.execute(db),
  );
}

import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { OPEN_FIRST_ATTEMPTS, OPEN_IN_A_BURST, OPEN_SECONDS } from './limits.ts';
import { endpointsWith } from './skip-scan.ts';

/** Attempts that are open for longer wait for their receiver; younger ones may just as well wait for their turn. */
const HANGING_SECONDS = 1;

/** Fresh deliveries that a burst could send. */
export interface Waiting {
  /** Not counted further than asked for. */
  readonly count: number;
  /** Seconds since the oldest of them was stored; 0 when there is none. */
  readonly oldestSeconds: number;
}

/**
 * Counts what waits in the outbox for a first attempt, `most` at most. What waits for an endpoint whose open first
 * attempts hang is not counted: it would wait in a burst as well.
 */
export async function measureBacklog(db: Database, most: number): Promise<Waiting> {
  const { rows } = await sql<Waiting>`
    WITH RECURSIVE waiting (endpoint_id) AS (${endpointsWith('waiting', sql<boolean>`outbox AND attempts = 0`)}
    ), roomy AS (
      SELECT endpoint_id FROM waiting
      WHERE endpoint_id IS NOT NULL AND (
        SELECT count(*) FILTER (WHERE d.burst_id IS NULL) + ${OPEN_IN_A_BURST} * count(DISTINCT d.burst_id)
        FROM webhook_deliveries d WHERE d.endpoint_id = waiting.endpoint_id
        AND d.attempts = 0 AND d.ended_at IS NULL AND NOT d.outbox
        AND d.handed_over_at BETWEEN now() - make_interval(secs => ${OPEN_SECONDS})
          AND now() - make_interval(secs => ${HANGING_SECONDS})
      ) <= ${OPEN_FIRST_ATTEMPTS - OPEN_IN_A_BURST}
    ), counted AS (
      SELECT next.created_at FROM roomy CROSS JOIN LATERAL (
        SELECT created_at FROM webhook_deliveries d
        WHERE d.outbox AND d.attempts = 0 AND d.endpoint_id = roomy.endpoint_id AND d.claimed_until IS NULL
        ORDER BY d.seq LIMIT ${most}
      ) AS next
      LIMIT ${most}
    )
    SELECT count(*)::integer AS count,
      coalesce(extract(epoch FROM now() - min(created_at)), 0)::float AS "oldestSeconds"
    FROM counted
  `.execute(db);
  return rows[0] ?? { count: 0, oldestSeconds: 0 };
}

/** What has waited for longer is late. */
const LATE_SECONDS = 0.2;

/**
 * Whether first attempts go through bursts: when `threshold` deliveries wait, or a tenth of it and some of them are
 * late, because then runs are started more slowly than deliveries come in. Once begun, it lasts while bursts find
 * anything.
 */
export function isBacklog(waiting: Waiting, threshold: number, isOn: boolean): boolean {
  if (threshold === 0) return false;
  if (isOn) return waiting.count > 0;
  return (
    waiting.count >= threshold || (waiting.count >= threshold / 10 && waiting.oldestSeconds > LATE_SECONDS)
  );
}

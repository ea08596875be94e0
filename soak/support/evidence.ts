import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import type { DeliveryStatus, LoggedAttempt } from '../../src/db/tables.ts';
import type { BurstId, DeliveryId, EndpointId, EventId } from '../../src/ids.ts';
import { MAX_ATTEMPTS } from '../../src/webhooks/attempts/schedule.ts';
import type { Load } from './load.ts';
import type { Witness } from './witness.ts';

export interface Evidence {
  readonly events: number;
  readonly deliveries: number;
  /** Deliveries that a burst had at their end. */
  readonly inBursts: number;
  readonly sends: number;
  /** Refused with 503 on purpose. */
  readonly refused: number;
  /** Sends beyond the first and those after a 503. */
  readonly duplicates: number;
  /** Sends beyond the attempts that a delivery's row counts. */
  readonly uncounted: number;
  /** When the first send of each delivery that was sent more often than needed arrived. */
  readonly duplicatedAt: number[];
  readonly attempts: ReadonlyMap<number, number>;
  /** A line for each delivery with three attempts or more. */
  readonly stubborn: string[];
  /** Broken promises. */
  readonly problems: string[];
}

/** A time in which something was down, in milliseconds since the epoch. */
export interface Fault {
  readonly at: number;
  readonly downMs: number;
}

interface Row {
  readonly id: DeliveryId;
  readonly endpoint_id: EndpointId;
  readonly event_id: EventId;
  readonly article_id: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly error_message: string | null;
  readonly in_run: boolean;
  readonly burst_id: BurstId | null;
  readonly attempt_log: readonly LoggedAttempt[];
}

async function selectDeliveries(db: Database): Promise<Row[]> {
  const shared = sql`id, endpoint_id, event_id, event_created_at, status, attempts, error_message, in_run, burst_id, attempt_log`;
  const { rows } = await sql<Row>`
    SELECT delivery.*, event.article_id
    FROM (SELECT ${shared} FROM webhook_open UNION ALL SELECT ${shared} FROM webhook_log) AS delivery
    JOIN events AS event ON event.id = delivery.event_id AND event.created_at = delivery.event_created_at`.execute(
    db,
  );
  return rows;
}

/** Time until deliveries of a lost worker are found and sent again. */
const FOUND_AFTER_MS = 30_000;

const STUBBORN = 3;

const describe = ({ id, attempts, in_run, attempt_log }: Row, sends: readonly number[]): string => {
  const way = in_run ? 'in a run' : 'in bursts';
  const log = attempt_log.map(({ number, startedAt, durationMs, responseStatus, errorMessage }) => {
    const outcome = responseStatus ?? errorMessage ?? 'nothing';
    return `${number} at ${startedAt.slice(11)} for ${durationMs} ms: ${outcome}`;
  });
  const arrived = sends.map((at) => new Date(at).toISOString().slice(11));
  return `${id}, ${way}, ${attempts} attempts; logged ${log.join(', ')}; arrived ${arrived.join(', ')}`;
};

/** Faults that a delivery met between its first and its last send. */
export const metBy = (faults: readonly Fault[], sends: readonly number[]): number =>
  faults.filter(
    ({ at, downMs }) => at + downMs + FOUND_AFTER_MS > (sends[0] ?? 0) && at < (sends.at(-1) ?? 0),
  ).length;

/**
 * Compares what was acknowledged, what the database holds and what arrived.
 * @param faults where given, sends beyond the counted attempts must be explained by them
 */
export async function gatherEvidence(
  db: Database,
  load: Pick<Load, 'stored' | 'accepted'>,
  witnesses: readonly Witness[],
  faults: readonly Fault[] = [],
): Promise<Evidence> {
  const rows = await selectDeliveries(db);
  const problems: string[] = [];
  const storedArticles = new Set(rows.map(({ article_id }) => article_id));
  for (const [name, articles] of Object.entries({ stored: load.stored, accepted: load.accepted })) {
    const lost = [...articles].filter((id) => !storedArticles.has(id));
    if (lost.length > 0)
      problems.push(`${lost.length} events acknowledged (${name}) and not in the database`);
  }
  const perEvent = Map.groupBy(rows, ({ event_id }) => event_id);
  for (const [eventId, deliveries] of perEvent) {
    if (deliveries.length !== witnesses.length)
      problems.push(`event ${eventId}: ${deliveries.length} deliveries`);
  }
  const attempts = new Map<number, number>();
  const stubborn: string[] = [];
  let uncounted = 0;
  for (const row of rows) {
    attempts.set(row.attempts, (attempts.get(row.attempts) ?? 0) + 1);
    const witness = witnesses.find(({ endpointId }) => endpointId === row.endpoint_id);
    const seen = witness?.sends.get(row.id);
    if (row.status !== 'succeeded') problems.push(`delivery ${row.id}: ${row.status}, ${row.error_message}`);
    if (row.attempts > MAX_ATTEMPTS) problems.push(`delivery ${row.id}: ${row.attempts} attempts`);
    if (seen === undefined) {
      problems.push(`delivery ${row.id} never arrived: ${row.status}, ${row.error_message}`);
      continue;
    }
    if (seen.articleId !== row.article_id) problems.push(`delivery ${row.id} arrived with another body`);
    const beyond = seen.at.length - row.attempts;
    uncounted += Math.max(0, beyond);
    if (row.attempts >= STUBBORN) stubborn.push(describe(row, seen.at));
    if (beyond > metBy(faults, seen.at) + seen.onReused)
      problems.push(`delivery ${row.id}: ${seen.at.length} sends for ${row.attempts} attempts`);
  }
  const known = new Set<string>(rows.map(({ id }) => id));
  const all = witnesses.flatMap((witness) => [...witness.sends]);
  const unknown = all.filter(([id]) => !known.has(id)).length;
  if (unknown > 0) problems.push(`${unknown} delivery ids arrived that the database does not hold`);
  for (const witness of witnesses) {
    const articles = [...witness.sends.values()].map(({ articleId }) => articleId);
    const repeated = articles.length - new Set(articles).size;
    if (repeated > 0) problems.push(`${repeated} events reached ${witness.name} under a second delivery id`);
    problems.push(...witness.forged.map((text) => `${witness.name}: ${text}`));
  }
  const sends = all.reduce((sum, [, { at }]) => sum + at.length, 0);
  const refused = all.filter(([, seen]) => seen.refused).length;
  return {
    events: perEvent.size,
    deliveries: rows.length,
    inBursts: rows.filter(({ burst_id }) => burst_id !== null).length,
    sends,
    refused,
    duplicates: sends - all.length - refused,
    uncounted,
    duplicatedAt: all
      .filter(([, seen]) => seen.at.length > (seen.refused ? 2 : 1))
      .map(([, { at }]) => at[0] ?? 0),
    attempts,
    stubborn,
    problems,
  };
}

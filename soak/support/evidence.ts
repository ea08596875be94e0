import type { Database } from '../../src/db/database.ts';
import type { Load } from './load.ts';
import type { Witness } from './witness.ts';

export interface Evidence {
  readonly events: number;
  readonly deliveries: number;
  /** Deliveries whose last attempt was a burst's. */
  readonly inBursts: number;
  readonly sends: number;
  /** Answered 503 on purpose. */
  readonly refused: number;
  /** Sends beyond the first of a delivery and those that a 503 asked for. */
  readonly duplicates: number;
  /** When the first send of each delivery that was sent more often than needed arrived. */
  readonly duplicatedAt: number[];
  readonly attempts: ReadonlyMap<number, number>;
  /** What must not be; empty when everything holds. */
  readonly problems: string[];
}

/** Compares what was acknowledged, what the database holds and what arrived. */
export async function gatherEvidence(
  db: Database,
  load: Pick<Load, 'stored' | 'accepted'>,
  witnesses: readonly Witness[],
): Promise<Evidence> {
  const rows = await db
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('events as event', 'event.id', 'delivery.event_id')
    .select(['delivery.id', 'delivery.endpoint_id', 'delivery.status', 'delivery.attempts'])
    .select(['delivery.error_message', 'delivery.burst_id', 'event.article_id', 'event.id as event_id'])
    .execute();
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
  for (const row of rows) {
    attempts.set(row.attempts, (attempts.get(row.attempts) ?? 0) + 1);
    const witness = witnesses.find(({ endpointId }) => endpointId === row.endpoint_id);
    const seen = witness?.sends.get(row.id);
    if (seen === undefined)
      problems.push(`delivery ${row.id} never arrived: ${row.status}, ${row.error_message}`);
    else if (seen.articleId !== row.article_id) problems.push(`delivery ${row.id} arrived with another body`);
    if (row.status !== 'succeeded') problems.push(`delivery ${row.id}: ${row.status}, ${row.error_message}`);
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
    duplicatedAt: all
      .filter(([, seen]) => seen.at.length > (seen.refused ? 2 : 1))
      .map(([, { at }]) => at[0] ?? 0),
    attempts,
    problems,
  };
}

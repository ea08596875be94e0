import type { Database } from '../../src/db/database.ts';
import { instantOf, type WorkspaceId } from '../../src/ids.ts';
import { MAX_ATTEMPTS } from '../../src/webhooks/attempts/schedule.ts';
import { type Fault, metBy } from '../support/evidence.ts';
import { findUnsettled } from '../support/settled.ts';
import type { Witness } from '../support/witness.ts';
import type { ApiLoad } from './api-load.ts';
import { type RecordedDelivery, readRecord } from './record.ts';

export interface Findings {
  readonly events: number;
  readonly deliveries: number;
  /** Deliveries that ended in a run of their own. */
  readonly inRuns: number;
  readonly sends: number;
  /** Refused with 503 on purpose. */
  readonly refused: number;
  /** Sends beyond the first and those after a 503: allowed, under the same id. */
  readonly repeats: number;
  /** Milliseconds from a delivery's being stored to its first send. */
  readonly waits: readonly number[];
  readonly attempts: ReadonlyMap<number, number>;
  /** Broken promises. */
  readonly problems: string[];
}

/**
 * Compares what was acknowledged, what the record says was stored, what arrived and what was counted, and the books
 * with each other.
 */
export async function audit(
  db: Database,
  workspaceId: WorkspaceId,
  witness: Witness,
  load: ApiLoad,
  kills: readonly Fault[],
): Promise<Findings> {
  const rows = await readRecord(db);
  const events = new Set(rows.map(({ event }) => event)).size;
  const known = new Set<string>(rows.flatMap(({ id }) => id ?? []));
  const unknown = [...witness.sends.keys()].filter((id) => !known.has(id)).length;
  const problems = [
    ...witness.forged,
    ...findUnstored(rows, load),
    ...rows.flatMap((row) => findLost(row, witness.sends, kills)),
    ...(rows.length === events ? [] : ['an event has two deliveries']),
    ...(unknown === 0 ? [] : [`${unknown} delivery ids arrived that were never stored`]),
    ...(await findUnsettled(db, workspaceId, load)),
  ];
  const all = [...witness.sends];
  const sends = all.reduce((sum, [, { at }]) => sum + at.length, 0);
  const refused = all.filter(([, seen]) => seen.refused).length;
  const byAttempts = Map.groupBy(
    rows.flatMap(({ attempts }) => attempts ?? []),
    (attempts) => attempts,
  );
  return {
    events,
    deliveries: known.size,
    inRuns: rows.filter(({ in_run }) => in_run).length,
    sends,
    refused,
    repeats: sends - all.length - refused,
    waits: all.map(([id, { at }]) => (at[0] ?? 0) - (instantOf(id)?.getTime() ?? 0)),
    attempts: new Map([...byAttempts].map(([attempts, of]) => [attempts, of.length])),
    problems,
  };
}

/** Events whose number of rows differs from the number of acknowledged requests. */
function findUnstored(rows: readonly RecordedDelivery[], { owed, orphans }: ApiLoad): string[] {
  const problems: string[] = [];
  const stored = Map.groupBy(rows, ({ type, article }) => `${type} ${article}`);
  for (const [key, { certain, possible }] of owed) {
    const found = stored.get(key)?.length ?? 0;
    if (found < certain || found > certain + possible)
      problems.push(`${key}: ${found} events, ${certain} acknowledged and ${possible} without a response`);
  }
  const uncaused = [...stored.keys()].filter((key) => !owed.has(key));
  const made = uncaused.filter((key) => key.startsWith('article.created '));
  for (const key of made.length > orphans() ? uncaused : uncaused.filter((key) => !made.includes(key)))
    problems.push(`${key}: no request caused this event`);
  return problems;
}

/** Problems of a delivery. */
function findLost(row: RecordedDelivery, arrived: Witness['sends'], kills: readonly Fault[]): string[] {
  const { id, event, type, status, attempts } = row;
  if (id === null) return [`event ${event} (${type}) has no delivery`];
  const seen = arrived.get(id);
  if (seen === undefined) return [`delivery ${id} never arrived: ${status}, ${row.error_message}`];
  const problems: string[] = [];
  const beyond = seen.at.length - (attempts ?? 0);
  if (seen.body !== row.body) problems.push(`delivery ${id} arrived with another body`);
  if (status !== 'succeeded') problems.push(`delivery ${id} is ${status ?? 'open'}: ${row.error_message}`);
  if ((attempts ?? 0) > MAX_ATTEMPTS) problems.push(`delivery ${id} was tried ${attempts} times`);
  if (beyond > metBy(kills, seen.at) + seen.onReused)
    problems.push(`delivery ${id}: ${seen.at.length} sends for ${attempts} attempts`);
  return problems;
}

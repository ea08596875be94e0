import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';

/** A lost attempt is seen after 20 s and made again after its wait; a few in a row take minutes. */
const DRAIN_MS = 12 * 60_000;

/** What is still under way. */
export async function countUnfinished(
  db: Database,
): Promise<Record<'deliveries' | 'jobs' | 'holds', number>> {
  const { rows } = await sql<{ deliveries: number; jobs: number; holds: number }>`
    SELECT (SELECT count(*) FROM webhook_open) AS deliveries,
           (SELECT count(*) FROM jobs WHERE ended_at IS NULL) AS jobs,
           (SELECT count(*) FROM holds WHERE status = 'open') AS holds`.execute(db);
  return rows[0] ?? { deliveries: 0, jobs: 0, holds: 0 };
}

/**
 * Waits until nothing is under way, and notes each change.
 * @param hasten called again and again meanwhile
 * @returns what still is when it takes too long, as problems
 */
export async function drain(
  db: Database,
  note: (line: string) => void,
  hasten: () => Promise<void> = async () => undefined,
): Promise<string[]> {
  const deadline = Date.now() + DRAIN_MS;
  for (let last = ''; ; await sleep(2_000)) {
    const { deliveries, jobs, holds } = await countUnfinished(db);
    const text = `${deliveries} deliveries, ${jobs} jobs and ${holds} holds open`;
    if (text !== last) note(text);
    if (deliveries + jobs + holds === 0) return [];
    if (Date.now() > deadline) return [text];
    last = text;
    await hasten();
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { rotatePartitions } from '../../src/db/old-partitions.ts';
import { listPartitions, PARTITIONED } from '../../src/db/partitions.ts';

/** Length of a partition in minutes, for `PARTITION_MINUTES` too. */
export const PARTITION_MINUTES = 1;
const EVERY_MS = 60_000;
const RETENTION_MS = 3 * 60_000;
/** By then a partition is older than the retention. */
const FIRST_DROP_ROUND = 6;

export interface Rolling {
  rounds: number;
  /** Partitions of events and of ended deliveries that were dropped. */
  dropped: number;
  /** Rows in them, and old ones of default partitions. */
  readonly rows: { events: number; deliveries: number };
  longestMs: number;
  /** What must not be: a round that failed, an event outside the partitions, an open delivery without its event. */
  readonly problems: string[];
  /** Resolves when the round under way has ended. */
  stop(): Promise<void>;
}

/** Prunes every minute, as the maintenance of a very short retention would, while everybody works. */
export function rollPartitions(db: Database, note: (line: string) => void): Rolling {
  const stopping = new AbortController();
  const names = async () =>
    (await Promise.all(PARTITIONED.map((table) => listPartitions(db, table)))).flat().map(({ name }) => name);
  const round = async () => {
    const startedAt = performance.now();
    const before = await names();
    const { events, deliveries } = await rotatePartitions(db, {
      retentionMs: RETENTION_MS,
      partitionMinutes: PARTITION_MINUTES,
    });
    const tookMs = performance.now() - startedAt;
    const after = new Set(await names());
    const dropped = before.filter((name) => !after.has(name)).length;
    rolling.rounds += 1;
    rolling.dropped += dropped;
    rolling.rows.events += events;
    rolling.rows.deliveries += deliveries;
    rolling.longestMs = Math.max(rolling.longestMs, tookMs);
    note(
      `pruned in ${tookMs.toFixed(0)} ms: ${dropped} partitions, ${events} events, ${deliveries} deliveries`,
    );
    rolling.problems.push(...(await misplaced(db)));
  };
  const run = async () => {
    for (let next = Date.now(); !stopping.signal.aborted; ) {
      await round().catch((error: unknown) => rolling.problems.push(`prune: ${String(error)}`));
      next += EVERY_MS;
      await sleep(Math.max(0, next - Date.now()), undefined, { signal: stopping.signal }).catch(
        () => undefined,
      );
    }
  };
  const rolling: Rolling = {
    rounds: 0,
    dropped: 0,
    rows: { events: 0, deliveries: 0 },
    longestMs: 0,
    problems: [],
    async stop() {
      stopping.abort();
      await running;
      if (rolling.dropped === 0 && rolling.rounds > FIRST_DROP_ROUND)
        rolling.problems.push(`no partition was dropped in ${rolling.rounds} rounds`);
    },
  };
  const running = run();
  return rolling;
}

async function misplaced(db: Database): Promise<string[]> {
  const { rows } = await sql<{ outside: number; bodiless: number }>`
    SELECT (SELECT count(*) FROM events_default) AS outside,
      (SELECT count(*) FROM webhook_open AS open WHERE NOT EXISTS (SELECT FROM events AS event
        WHERE event.id = open.event_id AND event.created_at = open.event_created_at)) AS bodiless`.execute(
    db,
  );
  const { outside, bodiless } = rows[0] ?? { outside: 0, bodiless: 0 };
  return [
    ...(outside > 0 ? [`${outside} events are in the default partition`] : []),
    ...(bodiless > 0 ? [`${bodiless} open deliveries have lost their event`] : []),
  ];
}

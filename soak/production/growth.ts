import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { quantile, table } from '../support/report.ts';
import { memory } from '../support/usage.ts';

const EVERY_MS = 10_000;
/** What may grow between the two halves of what is compared: noise of a few seconds' work. */
const GROWTH = 1.5;
const SLACK = { rows: 2_000, mebibytes: 64 };

/** Rows that work leaves open, and dead rows; none of them may add up. */
const OPEN = ['webhook_open', 'event_queue', 'event_fanouts', 'webhook_bursts', 'staged_blobs'] as const;

interface Sample {
  /** Of {@link OPEN}, and `dead rows` of all tables. */
  readonly rows: Readonly<Record<string, number>>;
  /** MiB by the name of a process. */
  readonly memory: Readonly<Record<string, number>>;
}

interface Sizes {
  /** Bytes with indexes, by table; partitions count for their table. */
  readonly bytes: ReadonlyMap<string, number>;
  /** Requests by then. */
  readonly requests: number;
}

export interface Growth {
  /** Ends the watch. @returns tables as text, and what has grown */
  stop(): Promise<{ readonly report: string; readonly problems: string[] }>;
}

async function openRows(db: Database): Promise<Record<string, number>> {
  const counts = OPEN.map((name) => sql`(SELECT count(*) FROM ${sql.table(name)}) AS ${sql.ref(name)}`);
  const { rows } = await sql<Record<string, number>>`
    SELECT ${sql.join(counts)},
      (SELECT sum(n_dead_tup) FROM pg_stat_user_tables) AS "dead rows"`.execute(db);
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, count]) => [name, Number(count)]));
}

async function sizesOf(db: Database, requests: number): Promise<Sizes> {
  const { rows } = await sql<{ name: string; bytes: number }>`
    SELECT coalesce(parent.relname, own.relname) AS name, sum(pg_total_relation_size(own.oid)) AS bytes
    FROM pg_class AS own
    LEFT JOIN pg_inherits ON inhrelid = own.oid
    LEFT JOIN pg_class AS parent ON parent.oid = inhparent
    WHERE own.relkind = 'r' AND own.relnamespace = 'public'::regnamespace AND own.relname NOT LIKE 'recorded_%'
    GROUP BY 1`.execute(db);
  return { bytes: new Map(rows.map(({ name, bytes }) => [name, Number(bytes)])), requests };
}

/** The higher end of what was seen in a part of the time, `from` and `to` being shares of it. */
const highOf = (
  samples: readonly Sample[],
  of: (sample: Sample) => number,
  from: number,
  to: number,
): number =>
  quantile(samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to)).map(of), 0.9);

/**
 * Watches what must not add up under a steady load: open and dead rows, and the memory of processes. What was seen around
 * the first third of the time is compared with its end.
 * @param requests how many were made so far: what tables hold of each may not grow either
 * @param minutes how long the load will last
 */
export function watchGrowth(
  db: Database,
  processes: Readonly<Record<string, () => number>>,
  requests: () => number,
  minutes: number,
): Growth {
  const samples: Sample[] = [];
  const failures: string[] = [];
  let third: Sizes | undefined;
  const startedAt = Date.now();
  const look = async () => {
    const rows = await openRows(db);
    samples.push({
      rows,
      memory: Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, memory(pid()).now])),
    });
    if (third === undefined && Date.now() - startedAt > minutes * 20_000)
      third = await sizesOf(db, requests());
  };
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look).catch((error: unknown) => void failures.push(`growth: ${String(error)}`));
  }, EVERY_MS);

  return {
    async stop() {
      clearInterval(timer);
      await looking;
      const problems = [...failures];
      const last = samples.at(-1);
      if (last === undefined || third === undefined) return { report: '', problems };
      const lines: (string | number)[][] = [['rows open, and MiB', 'after a third', 'at the end']];
      const compare = (name: string, of: (sample: Sample) => number, slack: number) => {
        const [before, after] = [highOf(samples, of, 0.25, 0.4), highOf(samples, of, 0.85, 1)];
        lines.push([name, before.toFixed(0), after.toFixed(0)]);
        if (after > before * GROWTH + slack)
          problems.push(`${name} has grown from ${before.toFixed(0)} to ${after.toFixed(0)}`);
      };
      for (const name of Object.keys(last.rows)) compare(name, ({ rows }) => rows[name] ?? 0, SLACK.rows);
      for (const name of Object.keys(last.memory))
        compare(name, (sample) => sample.memory[name] ?? 0, SLACK.mebibytes);
      const end = await sizesOf(db, requests());
      const first = third;
      const largest = [...end.bytes].sort(([, one], [, other]) => other - one).slice(0, 12);
      const perRequest = (bytes: number, { requests }: Sizes) => (bytes / requests).toFixed(0);
      const tables = largest.map(([name, bytes]) => [
        name,
        (bytes / 1_048_576).toFixed(1),
        perRequest(first.bytes.get(name) ?? 0, first),
        perRequest(bytes, end),
      ]);
      const head = ['table', 'MiB at the end', 'bytes a request after a third', 'at the end'];
      return { report: `${table(lines)}\n\n${table([head, ...tables])}`, problems };
    },
  };
}

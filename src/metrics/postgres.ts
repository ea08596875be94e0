import { sql } from 'kysely';
import { Counter, Gauge, Registry } from 'prom-client';
import type { Database } from '../db/database.ts';

/** What Postgres says of itself and of this database. Of other roles' sessions it shows that they exist, not what they do. */
interface PostgresFigures {
  readonly connections: { readonly active: number; readonly idle: number; readonly inTransaction: number };
  readonly maxConnections: number;
  /** Seconds that the oldest open transaction has lasted. */
  readonly oldestTransaction: number;
  readonly size: number;
  readonly committed: number;
  readonly rolledBack: number;
  readonly deadlocks: number;
  readonly blocksRead: number;
  readonly blocksHit: number;
  /** WAL files that could not be archived. */
  readonly archiveFailures: number;
  /** Seconds since 1970 of the last prune that began; null before the first. */
  readonly prunedAt: number | null;
}

export async function readPostgres(db: Database): Promise<PostgresFigures> {
  const { rows } = await sql<Omit<PostgresFigures, 'connections'> & PostgresFigures['connections']>`
    SELECT sessions.*, current_setting('max_connections')::integer AS "maxConnections",
      pg_database_size(current_database())::float8 AS size,
      xact_commit::float8 AS committed, xact_rollback::float8 AS "rolledBack", deadlocks::float8 AS deadlocks,
      blks_read::float8 AS "blocksRead", blks_hit::float8 AS "blocksHit",
      (SELECT failed_count::float8 FROM pg_stat_archiver) AS "archiveFailures",
      (SELECT extract(epoch FROM believed)::float8 FROM prune_clock) AS "prunedAt"
    FROM pg_stat_database CROSS JOIN (
      SELECT count(*) FILTER (WHERE state = 'active')::integer AS active,
        count(*) FILTER (WHERE state IS NULL OR state = 'idle')::integer AS idle,
        count(*) FILTER (WHERE state NOT IN ('active', 'idle'))::integer AS "inTransaction",
        coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(xact_start))), 0)::float8 AS "oldestTransaction"
      FROM pg_stat_activity WHERE backend_type = 'client backend'
    ) AS sessions
    WHERE datname = current_database()`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('Postgres has no statistics of its own database');
  const { active, idle, inTransaction, ...rest } = row;
  return { ...rest, connections: { active, idle, inTransaction } };
}

/** The figures as Prometheus text. */
export function renderPostgres(figures: PostgresFigures): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, value: number) =>
    new Gauge({ name, help, registers }).set(value);
  const counter = (name: string, help: string, value: number) =>
    new Counter({ name, help, registers }).inc(value);

  const connections = new Gauge({
    name: 'postgres_connections',
    help: 'Connections of clients to the server, of all its databases, by state.',
    labelNames: ['state'],
    registers,
  });
  connections.set({ state: 'active' }, figures.connections.active);
  connections.set({ state: 'idle' }, figures.connections.idle);
  connections.set({ state: 'in_transaction' }, figures.connections.inTransaction);
  gauge('postgres_connections_max', 'Connections that the server takes.', figures.maxConnections);
  gauge(
    'postgres_oldest_transaction_seconds',
    'How long the oldest open transaction has lasted.',
    figures.oldestTransaction,
  );
  gauge('postgres_database_bytes', 'Size of the database on disk.', figures.size);
  const transactions = new Counter({
    name: 'postgres_transactions_total',
    help: 'Ended transactions of the database, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  transactions.inc({ outcome: 'committed' }, figures.committed);
  transactions.inc({ outcome: 'rolled_back' }, figures.rolledBack);
  counter('postgres_deadlocks_total', 'Deadlocks that Postgres ended.', figures.deadlocks);
  const blocks = new Counter({
    name: 'postgres_blocks_total',
    help: 'Blocks of 8 KiB that statements needed, by where they were: memory or disk.',
    labelNames: ['source'],
    registers,
  });
  blocks.inc({ source: 'memory' }, figures.blocksHit);
  blocks.inc({ source: 'disk' }, figures.blocksRead);
  counter(
    'postgres_archive_failures_total',
    'WAL files that could not be archived.',
    figures.archiveFailures,
  );
  if (figures.prunedAt !== null) {
    gauge('prune_last_start_timestamp_seconds', 'When prune last began, as Unix time.', figures.prunedAt);
  }
  return registry.metrics();
}

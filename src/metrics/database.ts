import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, Gauge, Registry } from 'prom-client';
import { connectionName, createDatabase, type Database } from '../db/database.ts';
import { PARTITIONED, partitionsAhead } from '../db/partitions.ts';
import { readBacklog, renderBacklog } from './backlog.ts';
import { readPostgres, renderPostgres } from './postgres.ts';
import type { MetricsSource } from './serve.ts';

/** How long figures are reused, in milliseconds, however often they are scraped. */
const MAX_AGE_MS = 10_000;
/** How long a scrape waits for the database, in milliseconds: well below Prometheus's own limit of 10 seconds. */
const DEADLINE_MS = 2_000;

export interface DatabaseMetrics {
  readonly read: MetricsSource;
  readonly close: () => Promise<void>;
}

export interface DatabaseMetricsOptions {
  readonly connectionString: string;
  /** The registry of `database_metrics_errors_total`. */
  readonly registry: Registry;
  readonly logger: Logger;
  /** Milliseconds; lower in tests. */
  readonly maxAgeMs?: number | undefined;
}

async function readFigures(db: Database): Promise<string> {
  const partitions = new Registry();
  const ahead = new Gauge({
    name: 'partitions_ahead_seconds',
    help: 'How far ahead of now the existing partitions reach.',
    labelNames: ['table'],
    registers: [partitions],
  });
  for (const table of PARTITIONED) ahead.set({ table }, await partitionsAhead(db, table));
  return [
    await partitions.metrics(),
    await renderPostgres(await readPostgres(db)),
    await renderBacklog(await readBacklog(db), new Date()),
  ].join('');
}

/**
 * The backlog in the database, as series. It has its own connection, so that a scrape neither waits for the process's
 * pool nor takes from it. When the database does not respond in time, the series are omitted and the failure is
 * counted.
 */
export function createDatabaseMetrics(options: DatabaseMetricsOptions): DatabaseMetrics {
  const { connectionString, registry, logger, maxAgeMs = MAX_AGE_MS } = options;
  const errors = new Counter({
    name: 'database_metrics_errors_total',
    help: 'Failed reads of the figures from the database.',
    registers: [registry],
  });
  let db: Database | undefined;
  let latest = { text: '', at: Number.NEGATIVE_INFINITY };
  let reading: Promise<string> | undefined;

  const release = async (): Promise<void> => {
    const used = db;
    db = undefined;
    await used?.destroy();
  };

  async function read(): Promise<string> {
    const patience = new AbortController();
    db ??= createDatabase({
      connectionString,
      poolSize: 1,
      applicationName: connectionName('metrics'),
      connectTimeout: DEADLINE_MS,
      statementTimeout: DEADLINE_MS,
    });
    try {
      return await Promise.race([
        readFigures(db),
        sleep(DEADLINE_MS, undefined, { signal: patience.signal }).then(() => {
          throw new Error(`no response within ${DEADLINE_MS} ms`);
        }),
      ]);
    } catch (error) {
      errors.inc();
      logger.warn({ err: error }, 'metrics of the database not read');
      // The state of the connection is unknown: the next read opens a new one.
      release().catch(() => undefined);
      return '';
    } finally {
      patience.abort();
    }
  }

  return {
    read() {
      if (reading !== undefined) return reading;
      if (performance.now() - latest.at < maxAgeMs) return Promise.resolve(latest.text);
      reading = read().then((text) => {
        latest = { text, at: performance.now() };
        reading = undefined;
        return text;
      });
      return reading;
    },
    async close() {
      await reading;
      await release();
    },
  };
}

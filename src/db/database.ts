import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { sendPreparedByName } from './prepared.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;
export type Tx = Transaction<Tables>;
/** Either: a query that works inside and outside a transaction. */
export type Queryable = Database | Tx;

/** Credits, bytes and counts stay far below 2^53; anything above is a fault that must not be rounded silently. */
function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint out of range: ${text}`);
  return value;
}

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? parseBigint : pg.types.getTypeParser(oid, format),
};

export interface DatabaseOptions {
  readonly connectionString: string;
  /** Connections of this process's pool. */
  readonly poolSize?: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
  /** Milliseconds after which Postgres ends a statement; 0 means no limit. */
  readonly statementTimeout?: number;
  /**
   * Set unless a pooler shares connections between us and Postgres: prepared statements belong to a session,
   * and the next one may not have them.
   */
  readonly prepareStatements?: boolean;
  /** Called when a connection is lost; the pool replaces it by itself. */
  readonly onError?: (error: Error) => void;
}

/** A Kysely instance over its own pool; `destroy()` closes the connections. */
export function createDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.poolSize ?? 10,
    application_name: options.applicationName ?? 'workspace-content-service',
    statement_timeout: options.statementTimeout ?? 30_000,
    connectionTimeoutMillis: 10_000,
    idle_in_transaction_session_timeout: 60_000,
    types,
  });
  // Without a listener a connection that is lost ends the process: idle, or between two queries of a transaction.
  const onError = (error: Error) => options.onError?.(error);
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  if (options.prepareStatements) pool.on('connect', sendPreparedByName);
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

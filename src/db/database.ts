import { Socket } from 'node:net';
import { type ConnectionProvider, type Dialect, Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { ServiceError } from '../errors.ts';
import { createTurns } from '../turns.ts';
import { sendPreparedByName } from './prepared.ts';
import { destroySilentConnections } from './silence.ts';
import type { Tables } from './tables.ts';
import { sendTogether } from './together.ts';

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

/** TCP asks after a peer that is quiet for 10 s, and gives it up after 15 more. In milliseconds. */
const KEEP_ALIVE = { enable: true, initialDelay: 10_000, interval: 5_000, count: 3 };
/**
 * Milliseconds a session may stand still inside a transaction, while others wait for its locks. Beside Postgres a
 * transaction waits for nothing but the disk, where images are stored: a session that stands still for longer has lost
 * its client.
 */
const IDLE_IN_TRANSACTION_MS = 15_000;

/** What `pg_stat_activity` calls a connection of this service's processes. */
export const connectionName = (process: string): string => `workspace-content-service ${process}`;

export interface DatabaseOptions {
  readonly connectionString: string;
  /** Connections of this process's pool. */
  readonly poolSize?: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
  /**
   * Milliseconds after which Postgres ends a statement, and shortly after which a connection without an answer is
   * destroyed; 0 means no limit, on either side.
   */
  readonly statementTimeout?: number;
  /** Milliseconds that a statement waits for a lock; without it, as long as the statement may take. */
  readonly lockTimeout?: number;
  /** Milliseconds that a caller waits for a connection, new or used. */
  readonly connectTimeout?: number;
  /** Set where even the connection of a caller who comes once an hour is to stay open. */
  readonly keepIdle?: boolean;
  /**
   * Set unless a pooler shares connections between us and Postgres: prepared statements belong to a session,
   * and the next one may not have them.
   */
  readonly prepareStatements?: boolean;
  /** Postgres's settings of each session. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called when a connection is lost; the pool replaces it by itself. */
  readonly onError?: (error: Error) => void;
}

const toStartupOptions = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/**
 * Lets `end()` wait until each connection is closed. The pool's own is over once the goodbyes are written: when Postgres
 * is stopped a moment later, it would end those connections itself, and they would be taken for lost.
 */
function endWhenClosed(pool: pg.Pool): void {
  const open = new Map<pg.PoolClient, Promise<void>>();
  pool.on('connect', (client) => {
    const closed = new Promise<void>((resolve) => client.once('end', resolve));
    open.set(client, closed);
    client.once('end', () => open.delete(client));
  });
  const end: () => Promise<void> = pool.end.bind(pool);
  Object.assign(pool, {
    async end() {
      await end();
      await Promise.all(open.values());
    },
  });
}

/**
 * A pool whose connections end by themselves when Postgres no longer answers; `end()` resolves once they are closed,
 * some seconds later at most.
 */
export function createPool(options: DatabaseOptions): pg.Pool {
  const { statementTimeout = 25_000, lockTimeout } = options;
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.poolSize ?? 10,
    application_name: options.applicationName ?? 'workspace-content-service',
    statement_timeout: statementTimeout,
    ...(lockTimeout === undefined ? {} : { lock_timeout: lockTimeout }),
    ...(options.settings === undefined ? {} : { options: toStartupOptions(options.settings) }),
    connectionTimeoutMillis: options.connectTimeout ?? 10_000,
    ...(options.keepIdle ? { idleTimeoutMillis: 0 } : {}),
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    types,
    pipeline: true,
  });
  // Without a listener a connection that is lost ends the process: idle, or between two queries of a transaction. Each
  // tells of it itself; the pool does so once more for those that idle.
  const onError = (error: Error) => options.onError?.(error);
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', onError);
    const { stream } = client.connection;
    if (stream instanceof Socket) stream.setKeepAlive(KEEP_ALIVE);
  });
  if (options.prepareStatements) pool.on('connect', sendPreparedByName);
  destroySilentConnections(pool, statementTimeout);
  endWhenClosed(pool);
  // Last: what is put off is nothing that Postgres has to answer.
  pool.on('connect', sendTogether);
  return pool;
}

/** A Kysely instance over its own pool; `destroy()` closes the connections. */
export const createDatabase = (options: DatabaseOptions): Database =>
  new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createPool(options) }) });

/** One pool for many: what one of them waits for, the others do not. */
export interface SharedDatabase {
  /** For what is asked on nobody's behalf: whose a key is, an image that needs none. A part of the pool is kept for it. */
  readonly common: Database;
  /** The same pool for one request of a holder, which gets a share. Nobody may hold one connection and ask for another. */
  readonly of: (holder: string) => Database;
  /** Callers of `of` that wait for a connection. */
  readonly waiting: () => number;
  /** Closes the connections. */
  readonly destroy: () => Promise<void>;
}

/** The part of a pool that is kept for what is asked on nobody's behalf: one in five connections, one at least. */
const COMMON_PART = 5;
/** Requests of one holder that may wait for a connection. */
const MAX_WAITING = 500;

const busy = (): ServiceError =>
  new ServiceError(
    'SERVICE_UNAVAILABLE',
    'Too many requests of this workspace are already using the database. Try again shortly.',
  );

/** `waitMs`: milliseconds that a request waits in all for connections of its holder's share. */
export function createSharedDatabase(
  options: DatabaseOptions & { readonly poolSize: number; readonly waitMs: number },
): SharedDatabase {
  const { poolSize, waitMs } = options;
  const pool = new PostgresDialect({ pool: createPool(options) });
  const driver = pool.createDriver();
  const dialect: Dialect = {
    createDriver: () => driver,
    createAdapter: () => pool.createAdapter(),
    createQueryCompiler: () => pool.createQueryCompiler(),
    createIntrospector: (db) => pool.createIntrospector(db),
  };
  const config = { dialect };
  const common = new Kysely<Tables>(config);
  const direct = common.getExecutor();
  const total = poolSize - Math.ceil(poolSize / COMMON_PART);
  const turns = createTurns({ total, perOwner: 'half', maxWaiting: MAX_WAITING, refusal: busy });
  return {
    common,
    of: (holder) => {
      let patience = waitMs;
      const provider: ConnectionProvider = {
        async provideConnection(consumer, abort) {
          const began = performance.now();
          const release = await turns.take(holder, { waitMs: patience });
          patience -= performance.now() - began;
          try {
            return await direct.provideConnection(consumer, abort);
          } finally {
            release();
          }
        },
      };
      const executor = direct.withConnectionProvider(provider);
      return new Kysely<Tables>({ config, dialect, driver, executor });
    },
    waiting: turns.waiting,
    destroy: () => common.destroy(),
  };
}

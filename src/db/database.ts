import { Socket } from 'node:net';
import { type ConnectionProvider, type Dialect, Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { type ServiceError, unavailable } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';
import { sendJoined } from './joined-statements.ts';
import { sendingByName } from './prepared.ts';
import { destroySilentConnections } from './silent-connections.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;
export type Tx = Transaction<Tables>;
/** A database or a transaction. */
export type Queryable = Database | Tx;

/** Credits, bytes and counts stay far below 2^53; a larger value is a fault that must not be rounded silently. */
function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint out of range: ${text}`);
  return value;
}

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? parseBigint : pg.types.getTypeParser(oid, format),
};

/** TCP keep-alive: probes a peer that is silent for 10 s, and drops it after 15 more. In milliseconds. */
const KEEP_ALIVE = { enable: true, initialDelay: 10_000, interval: 5_000, count: 3 };
/**
 * How long a session may idle inside a transaction, holding locks, in milliseconds. Besides Postgres a transaction waits
 * only where it removes an image's bytes, for their store: a session that idles longer has lost its client.
 */
const IDLE_IN_TRANSACTION_MS = 15_000;

/** The application_name of a connection of this service. */
export const connectionName = (process: string): string => `workspace-content-service ${process}`;

export interface DatabaseOptions {
  readonly connectionString: string;
  /** Connections of this process's pool. */
  readonly poolSize?: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
  /**
   * How long a statement may take, in milliseconds, on Postgres's side and, a little longer, on ours; 0 means no limit.
   */
  readonly statementTimeout?: number;
  /** How long a statement waits for a lock, in milliseconds; the statement's limit when omitted. */
  readonly lockTimeout?: number;
  /** How long a caller waits for a connection, new or used, in milliseconds. */
  readonly connectTimeout?: number;
  /** False behind a pooler: prepared statements belong to a session, which the pooler shares. */
  readonly prepareStatements?: boolean;
  /** Postgres's settings of each session. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called when a connection is lost; the pool replaces it. */
  readonly onError?: (error: Error) => void;
}

const toStartupOptions = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/**
 * Makes `end()` wait until each connection is closed. The pool's own resolves once the farewells are sent: a Postgres
 * that stops right then would end those connections itself, and they would count as lost.
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
 * A pool whose connections end when Postgres no longer responds; `end()` resolves once they are closed, after some
 * seconds at most.
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
    // A new one costs Postgres a process, a login and the plan of each statement: what comes after a quiet time must not wait for it.
    idleTimeoutMillis: 0,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    types,
    pipeline: true,
  });
  // Without a listener a lost connection ends the process: idle, or between two queries of a transaction. Each
  // connection reports it; the pool does so again for idle ones.
  const onError = (error: Error) => options.onError?.(error);
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', onError);
    const { stream } = client.connection;
    if (stream instanceof Socket) stream.setKeepAlive(KEEP_ALIVE);
  });
  destroySilentConnections(pool, statementTimeout);
  endWhenClosed(pool);
  // Last: what is postponed has no response of its own.
  pool.on('connect', (client) =>
    sendJoined(client, options.prepareStatements ? sendingByName(client) : undefined),
  );
  return pool;
}

/** A Kysely instance over its own pool; `destroy()` closes the connections. */
export const createDatabase = (options: DatabaseOptions): Database =>
  new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createPool(options) }) });

/** One pool shared fairly: holders do not wait for one another. */
export interface SharedDatabase {
  /**
   * Queries not tied to a workspace: authenticating a key, serving an image. A part of the pool is reserved for them.
   */
  readonly common: Database;
  /**
   * The same pool for one request of a holder, within its share. A request that holds a connection must not take
   * another.
   */
  readonly of: (holder: string) => Database;
  /** Callers of `of` that wait for a connection. */
  readonly waiting: () => number;
  /** Closes the connections. */
  readonly destroy: () => Promise<void>;
}

/** The part of a pool reserved for queries not tied to a workspace: one in five connections, at least one. */
const COMMON_PART = 5;
/** Requests of one holder that may wait for a connection. */
const MAX_WAITING = 500;

const busy = (): ServiceError =>
  unavailable(
    'connections',
    'Too many requests of this workspace are already using the database. Try again shortly.',
  );

/** `waitMs`: how long a request waits in all for connections of its holder's share. */
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
  const queue = createFairQueue({ total, perOwner: 'half', maxWaiting: MAX_WAITING, refusal: busy });
  return {
    common,
    of: (holder) => {
      let patience = waitMs;
      const provider: ConnectionProvider = {
        async provideConnection(consumer, abort) {
          const began = performance.now();
          const release = await queue.take(holder, { waitMs: patience });
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
    waiting: queue.waiting,
    destroy: () => common.destroy(),
  };
}

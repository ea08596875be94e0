import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { errorCode, errorMessage } from '../error-text.ts';
import { freePorts, LOOPBACK } from '../ports.ts';
import {
  EngineExitedError,
  type Progress,
  type SpawnedEngine,
  spawnEngine,
  untilReady,
  withAttempts,
} from './engine.ts';
import { type PostgresBinaries, postgresBinaries } from './postgres-binaries.ts';
import { type Cluster, clearServerRemains, openCluster, POSTGRES_END } from './postgres-cluster.ts';
import { invocation } from './privileges.ts';
import { endProcess, isAlive, processIdentitySchema } from './process-identity.ts';

/** Name of the service's database in the embedded server. */
const DATABASE_NAME = 'wcs';

export const postgresEngineSchema = z.object({
  process: processIdentitySchema,
  /** With the user's password: never logged. */
  databaseUrl: z.string(),
  folder: z.string(),
});

/** A Postgres server started by this process or an earlier one. */
export type PostgresEngine = z.infer<typeof postgresEngineSchema>;

export type PostgresOptions = {
  dataDir: string;
  /** False trades durability for speed and allows many services: for throw-away databases only. */
  durable: boolean;
  /** In its own process group, so that Ctrl-C does not reach it. */
  detached: boolean;
  /** Default: a free port. */
  port?: number;
  /** Called once the process exists, before it is ready. */
  onSpawn: (engine: PostgresEngine) => void;
  onProgress: Progress;
  signal?: AbortSignal | undefined;
};

/**
 * Starts Postgres on `<dataDir>/postgres`, on a loopback port, and waits for the database `wcs`.
 *
 * @throws Error with the last lines of its log when it does not come up
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresEngine> {
  const binaries = await postgresBinaries();
  const cluster = await openCluster(binaries, options.dataDir, options);
  options.onProgress('Starting Postgres');
  return withAttempts(async () => {
    await clearServerRemains(cluster.folder);
    const [freePort = 0] = await freePorts(1);
    const port = options.port ?? freePort;
    const spawned = await spawnPostgres(binaries, cluster, port, options);
    const engine = { process: spawned.process, databaseUrl: urlOf(cluster, port), folder: cluster.folder };
    options.onSpawn(engine);
    const wait = { timeoutMs: 60_000, signal: options.signal };
    await untilReady('Postgres', spawned, () => isServing(engine.databaseUrl, spawned), wait);
    return engine;
  }, options.signal);
}

/** Restarts a dead Postgres on the same data and port. */
export function restartPostgres(engine: PostgresEngine, options: PostgresOptions): Promise<PostgresEngine> {
  return startPostgres({ ...options, port: Number(new URL(engine.databaseUrl).port) });
}

/** Whether an earlier process's engine still runs and responds within 10 s, and so can be used. */
export async function postgresResponds(engine: PostgresEngine): Promise<boolean> {
  const deadline = Date.now() + 5_000;
  while (isAlive(engine.process) && Date.now() < deadline) {
    if (await connects(engine.databaseUrl)) return true;
    await sleep(100);
  }
  return false;
}

/** Ends Postgres with a fast shutdown: open transactions are rolled back, nothing committed is lost. */
export const stopPostgres = (engine: PostgresEngine): Promise<void> =>
  endProcess(engine.process, POSTGRES_END);

/**
 * Checks an external database.
 *
 * @throws Error naming DATABASE_URL when it cannot be reached, or when its encoding is not UTF8 (lengths would then be
 * counted in bytes)
 */
export async function checkDatabase(databaseUrl: string): Promise<void> {
  let encoding: string | undefined;
  try {
    encoding = await withClient(databaseUrl, async (client) => {
      const { rows } = await client.query<{ server_encoding: string }>('SHOW server_encoding');
      return rows[0]?.server_encoding;
    });
  } catch (cause) {
    throw new Error(`The database of DATABASE_URL cannot be used: ${errorMessage(cause)}`, { cause });
  }
  if (encoding !== 'UTF8') {
    throw new Error(
      `The database of DATABASE_URL has the encoding ${encoding}. It must be UTF8: CREATE DATABASE … ENCODING 'UTF8'.`,
    );
  }
}

/** The server log of a data folder. */
export const postgresLog = (dataDir: string): string => join(dataDir, 'logs', 'postgres.log');

async function spawnPostgres(
  binaries: PostgresBinaries,
  cluster: Cluster,
  port: number,
  options: PostgresOptions,
): Promise<SpawnedEngine> {
  const settings = [
    `port=${port}`,
    `listen_addresses=${LOOPBACK}`,
    'unix_socket_directories=',
    `max_connections=${options.durable ? 200 : 400}`,
    'timezone=UTC',
    'log_timezone=UTC',
    ...(options.durable ? [] : ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off']),
  ];
  const args = ['-D', cluster.folder, ...settings.flatMap((setting) => ['-c', setting])];
  const paths = [join(binaries.root, 'lib', 'any'), cluster.folder];
  const launch = { account: cluster.account, paths, dieWithParent: !options.detached };
  return spawnEngine('Postgres', invocation(binaries.postgres, args, launch), {
    logFile: postgresLog(options.dataDir),
    detached: options.detached,
  });
}

function urlOf(cluster: Cluster, port: number): string {
  return `postgres://postgres:${cluster.password}@${LOOPBACK}:${port}/${DATABASE_NAME}`;
}

/** SQLSTATEs of a refused login: 28P01 wrong password, 28000 not allowed. */
const REFUSED = new Set(['28P01', '28000']);

async function isServing(databaseUrl: string, spawned: SpawnedEngine): Promise<boolean> {
  const maintenance = new URL(databaseUrl);
  maintenance.pathname = '/postgres';
  try {
    await withClient(maintenance.href, async (client) => {
      const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE_NAME]);
      if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE_NAME}`);
    });
    return true;
  } catch (error) {
    if (!REFUSED.has(errorCode(error) ?? '')) return false;
    // Our password is wrong, or another server took the port first and ours is about to end.
    if (!isAlive(spawned.process)) throw new EngineExitedError('Postgres lost its port to another process.');
    throw error;
  }
}

async function connects(databaseUrl: string): Promise<boolean> {
  try {
    await withClient(databaseUrl, (client) => client.query('SELECT 1'));
    return true;
  } catch {
    return false;
  }
}

async function withClient<T>(connectionString: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await login(connectionString);
  try {
    return await use(client);
  } finally {
    await close(client);
  }
}

/** While this process loads its modules, a login can time out although Postgres has responded: it is tried again. */
const LOGIN_TRIES = 2;

async function login(connectionString: string): Promise<pg.Client> {
  for (let tried = 1; ; tried += 1) {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
    // A lost connection also rejects the query; without a listener the event would end the process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await close(client);
      // What the system or Postgres refuses has a code.
      const isTimeout = errorCode(error) === undefined;
      if (!isTimeout || tried === LOGIN_TRIES) throw error;
    }
  }
}

const close = (client: pg.Client): Promise<void> => client.end().catch(() => undefined);

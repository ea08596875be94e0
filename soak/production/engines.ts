import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { spawnEngine, untilReady } from '../../src/local/engine.ts';
import { startPostgres, stopPostgres } from '../../src/local/postgres.ts';
import { invocation } from '../../src/local/privileges.ts';
import { endProcess } from '../../src/local/process-identity.ts';
import { findTemporalCli } from '../../src/local/temporal-cli.ts';
import { accepts, LOOPBACK } from '../../src/ports.ts';
import { readCompose, serviceOf } from '../../test/deployment/support/compose-file.ts';
import { SECRETS_KEYS } from '../../test/support/secret-keys.ts';
import { quietPort } from '../support/durable-engines.ts';
import { type Engines, migrate, temporaryFolder, writeBundle } from '../support/engines.ts';
import { PARTITION_MINUTES } from './partitions.ts';
import { temporalServer } from './temporal-server.ts';

/** The engines of docker-compose.yml; the database is the service's own, as its own role. */
export interface ComposeEngines extends Engines {
  /** To look at all connections. */
  readonly superuserUrl: string;
  readonly temporalPid: number;
  /** For files of the service; goes with the engines. */
  readonly dataDir: string;
}

/** Variables of the Temporal server that take a port of this machine. */
const PORTS = [
  ...['FRONTEND_GRPC_PORT', 'FRONTEND_HTTP_PORT', 'FRONTEND_MEMBERSHIP_PORT', 'HISTORY_GRPC_PORT'],
  ...['HISTORY_MEMBERSHIP_PORT', 'MATCHING_GRPC_PORT', 'MATCHING_MEMBERSHIP_PORT', 'WORKER_GRPC_PORT'],
  'WORKER_MEMBERSHIP_PORT',
];
const COMMAND_MS = 90_000;
const STOP = [
  { signal: 'SIGTERM', waitMs: 10_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

const secret = () => randomBytes(18).toString('hex');

/** Runs the compose file's script, of which psql's `\getenv name VARIABLE` and `:'name'` are filled in here. */
async function runScript(superuserUrl: string, script: string, env: Readonly<Record<string, string>>) {
  const names = new Map(
    [...script.matchAll(/^\\getenv (\w+) (\w+)$/gm)].map(([, name, variable]) => [name, env[variable ?? '']]),
  );
  const filled = script
    .replace(/^\\getenv .*$/gm, '')
    .replace(/:'(\w+)'/g, (_, name: string) => pg.escapeLiteral(names.get(name) ?? ''));
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  // One at a time: CREATE DATABASE refuses the transaction that several statements at once are.
  for (const statement of filled.split(';').filter((text) => text.trim() !== '')) {
    await client.query(statement);
  }
  await client.end();
}

/**
 * The engines as docker-compose.yml has them, without Docker: Postgres (the embedded one) with the databases and roles of
 * its script, the same release of Temporal on it, with the schema, namespace and configuration of its commands and
 * environment, and our migrations. Only addresses differ.
 */
export async function startComposeEngines(print: (line: string) => void): Promise<ComposeEngines> {
  const passwords = {
    POSTGRES_PASSWORD: secret(),
    CONTENT_DB_PASSWORD: secret(),
    TEMPORAL_DB_PASSWORD: secret(),
    SECRETS_KEYS,
  };
  const compose = readCompose(fileURLToPath(new URL('../../docker-compose.yml', import.meta.url)), passwords);
  const temporal = serviceOf(compose, 'temporal');
  const version = /:(.+)$/.exec(temporal.image)?.[1] ?? '';
  print(`Temporal ${version}, built by Go where it is not in the cache: 3 to 10 minutes, once`);
  const files = temporalServer(version);
  const cli = await findTemporalCli({ env: process.env, onProgress: print });
  const folder = temporaryFolder();
  const stops: (() => Promise<void>)[] = [async () => folder.remove()];
  const stop = async () => {
    for (const each of stops.toReversed()) await each();
  };
  try {
    const postgres = await startPostgres({
      dataDir: folder.path,
      durable: true,
      detached: false,
      onSpawn: () => undefined,
      onProgress: print,
    });
    stops.push(() => stopPostgres(postgres));
    const { port: postgresPort } = new URL(postgres.databaseUrl);
    await runScript(
      postgres.databaseUrl,
      compose.configs.databases?.content ?? '',
      serviceOf(compose, 'postgres').environment,
    );

    const bin = join(folder.path, 'bin');
    mkdirSync(bin);
    symlinkSync(files.sqlTool, join(bin, 'temporal-sql-tool'));
    symlinkSync(cli.path, join(bin, 'temporal'));
    const own = { PATH: `${bin}:/usr/bin:/bin`, HOME: folder.path };
    const runCommand = async (name: string, addresses: Record<string, string>) => {
      const { entrypoint = [], command = [], environment } = serviceOf(compose, name);
      const [file = '', ...args] = [...entrypoint, ...command];
      const env = { ...environment, ...own, ...addresses };
      await promisify(execFile)(file, args, { env, timeout: COMMAND_MS });
    };
    const database = { SQL_HOST: LOOPBACK, SQL_PORT: postgresPort, SCHEMA: files.schema };
    // Twice, as a second `docker compose up` does.
    for (let time = 1; time <= 2; time += 1) await runCommand('temporal-schema', database);

    const dynamicConfig = join(folder.path, 'dynamic.yaml');
    const mounted = temporal.configs.find(
      ({ target }) => target === temporal.environment.DYNAMIC_CONFIG_FILE_PATH,
    );
    writeFileSync(dynamicConfig, compose.configs[mounted?.source ?? '']?.content ?? '');
    const ports = await Promise.all(PORTS.map(quietPort));
    const temporalAddress = `${LOOPBACK}:${ports[0]}`;
    const variables = {
      ...temporal.environment,
      ...own,
      ...Object.fromEntries(PORTS.map((name, index) => [name, ports[index]])),
      POSTGRES_SEEDS: LOOPBACK,
      DB_PORT: postgresPort,
      BIND_ON_IP: LOOPBACK,
      TEMPORAL_BROADCAST_ADDRESS: LOOPBACK,
      DYNAMIC_CONFIG_FILE_PATH: dynamicConfig,
    };
    print(`Starting Temporal at ${temporalAddress}`);
    // As the image's own entry point does: the configuration is the environment.
    const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const call = invocation('/usr/bin/env', ['-i', ...pairs, files.server, 'start'], {
      account: null,
      paths: [],
      dieWithParent: true,
    });
    const log = { logFile: join(folder.path, 'temporal.log'), detached: false };
    const server = await spawnEngine('Temporal', call, log);
    stops.push(() => endProcess(server.process, STOP));
    await untilReady('Temporal', server, () => accepts(ports[0] ?? 0), { timeoutMs: 60_000 });
    await runCommand('temporal-namespace', { TEMPORAL_ADDRESS: temporalAddress });

    const { DATABASE_URL = '' } = serviceOf(compose, 'server').environment;
    const databaseUrl = DATABASE_URL.replace('@postgres:5432/', `@${LOOPBACK}:${postgresPort}/`);
    await migrate(databaseUrl, PARTITION_MINUTES);
    return {
      databaseUrl,
      temporalAddress,
      temporalUiUrl: null,
      workflowBundle: await writeBundle(folder.path),
      superuserUrl: postgres.databaseUrl,
      temporalPid: server.process.pid,
      dataDir: join(folder.path, 'data'),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startPostgres, stopPostgres } from '../../src/local/postgres.ts';
import { LOOPBACK } from '../../src/ports.ts';
import { readCompose } from '../../test/deployment/support/compose-file.ts';
import { temporaryFolder } from '../support/engines.ts';
import { buildImage, type Image } from '../support/image.ts';
import { completed, watch } from './programs.ts';
import { serviceOf, startTemporalCluster } from './temporal-cluster.ts';

export const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** What `docker compose up` would leave running, but for the service's own processes. */
export interface Deployment {
  readonly image: Image;
  /** For logs. */
  readonly folder: string;
  /** Of the service's own database, as its own role. */
  readonly databaseUrl: string;
  /** Of the server, as superuser: to look at connections. */
  readonly superuserUrl: string;
  readonly temporalPid: number;
  /** The environment that the compose file gives to a service of this image, with this machine's addresses. */
  envOf(service: string): Record<string, string>;
  stop(): Promise<void>;
}

const secret = () => randomBytes(18).toString('hex');

/** psql's `\getenv name VARIABLE` and `:'name'`, which is all that the script of the compose file uses of it. */
export function fillIn(script: string, env: Readonly<Record<string, string>>): string {
  const names = new Map(
    [...script.matchAll(/^\\getenv (\w+) (\w+)$/gm)].map(([, name, variable]) => [name, env[variable ?? '']]),
  );
  return script
    .replace(/^\\getenv .*$/gm, '')
    .replace(/:'(\w+)'/g, (_, name: string) => pg.escapeLiteral(names.get(name) ?? ''));
}

async function makeDatabases(superuserUrl: string, script: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    // One at a time: CREATE DATABASE refuses the transaction that several statements at once are.
    for (const statement of script.split(';').filter((text) => text.trim() !== '')) {
      await client.query(statement);
    }
  } finally {
    await client.end();
  }
}

/**
 * Carries the compose file out on this machine: Postgres (the embedded one) with the databases and roles of its script,
 * Temporal on it, the image built in an empty folder, and `migrate` run from there.
 *
 * @param settings variables that an operator would add to the compose file's
 */
export async function deploy(
  print: (line: string) => void,
  settings: Readonly<Record<string, string>>,
): Promise<Deployment> {
  const folder = temporaryFolder();
  // The image's user has to get in.
  chmodSync(folder.path, 0o755);
  const sub = (name: string) => {
    const path = join(folder.path, name);
    mkdirSync(path);
    return path;
  };
  const compose = readCompose(join(REPOSITORY, 'docker-compose.yml'), {
    POSTGRES_PASSWORD: secret(),
    CONTENT_DB_PASSWORD: secret(),
    TEMPORAL_DB_PASSWORD: secret(),
  });
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const each of stops.toReversed()) await each();
    folder.remove();
  };
  try {
    const image = buildImage(REPOSITORY, sub('image'), print);
    const postgres = await startPostgres({
      dataDir: sub('postgres'),
      durable: true,
      detached: false,
      onSpawn: () => undefined,
      onProgress: print,
    });
    stops.push(() => stopPostgres(postgres));
    const port = Number(new URL(postgres.databaseUrl).port);
    const script = compose.configs.databases?.content ?? '';
    await makeDatabases(postgres.databaseUrl, fillIn(script, serviceOf(compose, 'postgres').environment));
    const cluster = await startTemporalCluster({
      compose,
      folder: sub('temporal'),
      postgresPort: port,
      print,
    });
    stops.push(() => cluster.stop());
    const envOf = (service: string) => {
      const { environment } = serviceOf(compose, service);
      return {
        ...environment,
        DATABASE_URL: environment.DATABASE_URL?.replace('@postgres:5432/', `@${LOOPBACK}:${port}/`) ?? '',
        TEMPORAL_ADDRESS: cluster.address,
        HOST: LOOPBACK,
        METRICS_HOST: LOOPBACK,
        WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
        PORT: '0',
        METRICS_PORT: '0',
        ...settings,
      };
    };
    print('Running migrate');
    const migrate = image.start(serviceOf(compose, 'migrate').command ?? [], envOf('migrate'));
    await completed('migrate', watch(migrate, join(folder.path, 'migrate.log')));
    const { DATABASE_URL: databaseUrl } = envOf('server');
    return {
      image,
      folder: folder.path,
      databaseUrl,
      superuserUrl: postgres.databaseUrl,
      temporalPid: cluster.server.pid,
      envOf,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

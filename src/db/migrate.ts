import { promises as fs } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Kysely, type QueryExecutorProvider, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import { LOCK_TIMEOUT, type Note, type OnlineSteps, onlineSteps, withLockRetries } from './online.ts';
import { makePartitions } from './partitions.ts';

const folder = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Kysely's own lock. */
const LOCK_ID = '3853314791062309107';
const LOCK_POLL_MS = 250;
const LOCK_WAIT_MS = 3_600_000;

/** Ids come from its uuidv7(). */
const OLDEST_POSTGRES = 18;

/**
 * A file of migrations/. Each runs in its own transaction, which is retried when it does not get a lock soon. An
 * `online` one runs outside of any, in repeatable steps: it may be cut off between two of them.
 */
type MigrationFile =
  | { readonly online?: undefined; readonly up: (db: Kysely<unknown>) => Promise<void> }
  | { readonly online: true; readonly up: (db: Kysely<unknown>, steps: OnlineSteps) => Promise<void> };

/** This release's migrations, in order. */
async function ownMigrations(): Promise<string[]> {
  const files = (await fs.readdir(folder)).filter((name) => name.endsWith('.ts'));
  return files.map((file) => path.basename(file, '.ts')).sort();
}

const load = async (name: string): Promise<MigrationFile> =>
  (await import(pathToFileURL(path.join(folder, `${name}.ts`)).href)) as MigrationFile;

/** The migrations that the database has had, other releases' included. */
async function appliedMigrations(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ known: boolean }>`
    SELECT to_regclass('kysely_migration') IS NOT NULL AS known`.execute(db);
  if (!rows[0]?.known) return [];
  const applied = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(db);
  return applied.rows.map(({ name }) => name).sort();
}

async function missingMigrations(db: QueryExecutorProvider): Promise<string[]> {
  const applied = new Set(await appliedMigrations(db));
  return (await ownMigrations()).filter((name) => !applied.has(name));
}

/**
 * Requires a schema with all that this release needs. One changed by later releases is fine: while they are rolled out,
 * this one's processes go on.
 * @throws Error that says what to do
 */
export async function requireSchema(db: Database): Promise<void> {
  const missing = await missingMigrations(db);
  if (missing.length === 0) return;
  throw new Error(
    `The database's schema is older than this release needs: it lacks ${missing.join(', ')}. Run \`npm run migrate\` first.`,
  );
}

/** The migrations of this release; applied ones of other releases count as run. */
async function provide(db: QueryExecutorProvider, note: Note): Promise<Record<string, Migration>> {
  const migrations: Record<string, Migration> = {};
  for (const name of await appliedMigrations(db)) migrations[name] = { up: async () => undefined };
  for (const name of await ownMigrations()) {
    const file = await load(name);
    migrations[name] = {
      up: async (connection) => {
        if (file.online) return file.up(connection, onlineSteps(connection, name, note));
        await sql`SET LOCAL lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(connection);
        return file.up(connection);
      },
    };
  }
  return migrations;
}

/**
 * Runs `work` on one connection while no other process migrates. It polls for the lock: waiting for it inside a
 * statement would block an index that is being built.
 */
const withMigrationLock = <Result>(
  db: Database,
  note: Note,
  work: (connection: Database) => Promise<Result>,
) =>
  db.connection().execute(async (connection) => {
    const lock = async () =>
      (
        await sql<{
          locked: boolean;
        }>`SELECT pg_try_advisory_lock(${sql.lit(LOCK_ID)}::bigint) AS locked`.execute(connection)
      ).rows[0]?.locked === true;
    const deadline = Date.now() + LOCK_WAIT_MS;
    for (let tries = 0; !(await lock()); tries += 1) {
      if (tries === 0) note('another process is migrating this database; waiting for it');
      if (Date.now() > deadline)
        throw new Error('Another process has been migrating this database for an hour.');
      await sleep(LOCK_POLL_MS);
    }
    try {
      return await work(connection);
    } finally {
      // A lost connection has nothing to reset.
      await sql`RESET lock_timeout`
        .execute(connection)
        .then(() => sql`SELECT pg_advisory_unlock(${sql.lit(LOCK_ID)}::bigint)`.execute(connection))
        .catch(() => undefined);
    }
  });

/** Runs the next migration, `name`. */
async function make(connection: Database, name: string, note: Note): Promise<void> {
  const migrations = await provide(connection, note);
  const { online } = await load(name);
  const migrator = new Migrator({ db: connection, provider: { getMigrations: async () => migrations } });
  await withLockRetries(name, note, async () => {
    const { error } = await migrator.migrateUp({ disableTransactions: online === true });
    if (error !== undefined) throw error;
  });
}

async function requireServer(db: Database): Promise<void> {
  const { rows } = await sql<{ encoding: string; version: string }>`
    SELECT pg_encoding_to_char(encoding) AS encoding, current_setting('server_version') AS version
    FROM pg_database WHERE datname = current_database()`.execute(db);
  const { encoding, version = '' } = rows[0] ?? {};
  if (encoding !== 'UTF8') {
    throw new Error(
      `DATABASE_URL names a database encoded as ${encoding}; create one with ENCODING 'UTF8' and use that.`,
    );
  }
  if (Number.parseInt(version, 10) < OLDEST_POSTGRES) {
    throw new Error(
      `DATABASE_URL leads to Postgres ${version}; this release needs ${OLDEST_POSTGRES} or later. Upgrade the server ` +
        '(pg_upgrade, or a dump restored into a new one), then migrate again.',
    );
  }
}

/**
 * Migrates the schema to the newest version and returns the names of the migrations it ran. Other processes keep
 * reading and writing: no migration waits for a lock longer than two seconds at a time. Processes that start together
 * wait for each other.
 * @param db without a limit on statements: building an index takes as long as it takes
 * @param partitionMinutes length of the partitions that are made
 * @throws when the database's encoding is not UTF8, where lengths and names would be counted in bytes, or its server is
 *   too old
 */
export async function migrateToLatest(
  db: Database,
  note: Note = () => undefined,
  partitionMinutes?: number,
): Promise<string[]> {
  await requireServer(db);
  return withMigrationLock(db, note, async (connection) => {
    const missing = await missingMigrations(connection);
    for (const name of missing) await make(connection, name, note);
    await makePartitions(connection, { minutes: partitionMinutes, note });
    return missing;
  });
}

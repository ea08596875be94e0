import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { migrateToLatest, requireSchema } from '../../src/db/migrate.ts';
import { onlineSteps } from '../../src/db/online.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let other: Database;
beforeEach(async () => {
  database = await createTestDatabase('template0');
  other = createDatabase({ connectionString: database.url, poolSize: 4 });
});
afterEach(async () => {
  await other.destroy();
  await database.drop();
});

const folder = new URL('../../migrations/', import.meta.url);

/** Makes the migrations whose names come before `end`. */
async function migrateUntil(end: string): Promise<void> {
  const migrations: Record<string, Migration> = {};
  for (const file of readdirSync(folder)) {
    const name = file.replace(/\.ts$/, '');
    const { up } = await import(new URL(file, folder).href);
    if (name >= end) continue;
    migrations[name] = {
      up: (db) =>
        up(
          db,
          onlineSteps(db, name, () => undefined),
        ),
    };
  }
  const migrator = new Migrator({ db: database.db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest({ disableTransactions: true });
  if (error !== undefined) throw error;
}

const KEYS = '0014_role_name_keys';
const indexes = async () =>
  (
    await sql<{ name: string; valid: boolean }>`
      SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index
      WHERE indrelid = 'roles'::regclass ORDER BY 1`.execute(database.db)
  ).rows;
const migrated = ['roles_folded_name_key', 'roles_pkey', 'roles_tenant_key'].map((name) => ({
  name,
  valid: true,
}));

it('goes on beside a dump that takes longer, and blocks no other session meanwhile', async () => {
  await migrateUntil(KEYS);
  expect(await indexes()).not.toEqual(migrated);
  const lines: string[] = [];
  let passed = 0;
  let hasEnded = false;
  let migrating: Promise<string[]> | undefined;
  await other.transaction().execute(async (dump) => {
    await sql`LOCK TABLE roles IN ACCESS SHARE MODE`.execute(dump);
    migrating = migrateToLatest(database.db, (line) => lines.push(line)).finally(() => {
      hasEnded = true;
    });
    while (lines.length < 2) {
      await sql`SELECT count(*) FROM roles`.execute(other);
      await sql`UPDATE roles SET name = name`.execute(other);
      passed += 1;
      await sleep(20);
    }
    expect(hasEnded).toBe(false);
  });
  expect((await migrating)?.[0]).toBe(KEYS);
  expect(await indexes()).toEqual(migrated);
  expect(lines[0]).toMatch(/^0014_role_name_keys waits for a lock that a longer transaction holds/);
  expect(passed).toBeGreaterThan(10);
});

it('finishes what was cut off in the middle of an index, and two that start together do it once', async () => {
  await migrateUntil(KEYS);
  // What a build leaves behind that was killed: an index that is not valid, under the name it was to have.
  await sql`CREATE INDEX roles_folded_name_key ON roles (id)`.execute(database.db);
  await sql`
    UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'roles_folded_name_key'::regclass`.execute(
    database.db,
  );
  const ran = await Promise.all([migrateToLatest(database.db), migrateToLatest(other)]);
  expect(ran.flat().filter((name) => name === KEYS)).toHaveLength(1);
  expect(await indexes()).toEqual(migrated);
});

it('is content with a schema that a later release has changed, and says what to do with an older one', async () => {
  const [newest = ''] = (await migrateToLatest(database.db)).reverse();
  await sql`INSERT INTO kysely_migration (name, timestamp) VALUES ('9999_later', '2999-01-01T00:00:00.000Z')`.execute(
    database.db,
  );
  await requireSchema(database.db);
  expect(await migrateToLatest(database.db)).toEqual([]);
  await sql`DELETE FROM kysely_migration WHERE name = ${newest}`.execute(database.db);
  await expect(requireSchema(database.db)).rejects.toThrow(
    `it lacks ${newest}. Run \`npm run migrate\` first.`,
  );
});

it('refuses a Postgres that is too old, and says what to do', async () => {
  await sql`CREATE SCHEMA older`.execute(other);
  await sql`CREATE FUNCTION older.current_setting(text) RETURNS text RETURN '17.6 (Debian 17.6-1)'`.execute(
    other,
  );
  const older = createDatabase({ connectionString: database.url, poolSize: 1 });
  await sql`SET search_path = older, pg_catalog, public`.execute(older);
  await expect(migrateToLatest(older)).rejects.toThrow(
    'DATABASE_URL leads to Postgres 17.6 (Debian 17.6-1); this release needs 18 or later. Upgrade the server',
  );
  await older.destroy();
});

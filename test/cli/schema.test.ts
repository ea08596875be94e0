import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrateDown, migrateToLatest } from '../../src/db/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runCli } from './run.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const applied = async () =>
  (await sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(database.db)).rows;
const createWorkspace = () =>
  runCli('admin', ['workspace', 'create', '--name', 'Acme', '--json'], { DATABASE_URL: database.url });

it('a command leaves the schema of a named database alone, and says what to do when it is too old', async () => {
  const [taken = ''] = await migrateDown(database.db);
  const before = await applied();
  const refused = await createWorkspace();
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain(taken);
  expect(refused.stderr).toContain('npm run migrate');
  expect(await applied()).toEqual(before);
  await migrateToLatest(database.db);
});

it('a command, and migrate itself, work beside the migrations of a later release', async () => {
  await sql`INSERT INTO kysely_migration (name, timestamp) VALUES ('9999_later', '2999-01-01T00:00:00.000Z')`.execute(
    database.db,
  );
  const created = await createWorkspace();
  expect([created.code, created.stderr]).toEqual([0, '']);
  const migrated = await runCli('migrate', [], { DATABASE_URL: database.url });
  expect([migrated.code, migrated.stdout]).toEqual([0, 'the schema is up to date\n']);
});

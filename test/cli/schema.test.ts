import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
  const newest = await sql<{ name: string; timestamp: string }>`
    DELETE FROM kysely_migration WHERE name = (SELECT max(name) FROM kysely_migration)
    RETURNING name, timestamp`.execute(database.db);
  const { name: taken, timestamp } = newest.rows[0] ?? { name: '', timestamp: '' };
  const before = await applied();
  const refused = await createWorkspace();
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain(taken);
  expect(refused.stderr).toContain('npm run migrate');
  expect(await applied()).toEqual(before);
  await sql`INSERT INTO kysely_migration (name, timestamp) VALUES (${taken}, ${timestamp})`.execute(
    database.db,
  );
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

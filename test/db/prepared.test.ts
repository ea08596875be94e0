import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../src/db/database.ts';
import { prepare, preparedStatement, type Slots } from '../../src/db/prepared.ts';
import type { WorkspaceId } from '../../src/ids.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const marked = preparedStatement('test_marked', 'SELECT $1::int + 1 AS next');

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** The prepared statements that one connection has after the marked statement ran on it three times. */
async function namesAfterUse(prepareStatements: boolean): Promise<string[]> {
  const db = createDatabase({ connectionString: database.url, poolSize: 1, prepareStatements });
  for (const number of [1, 2, 3]) {
    const { rows } = await db.executeQuery(CompiledQuery.raw(marked, [number]));
    expect(rows).toEqual([{ next: number + 1 }]);
  }
  await sql`SELECT ${1}::int`.execute(db);
  const { rows } = await sql<{ name: string }>`SELECT name FROM pg_prepared_statements`.execute(db);
  await db.destroy();
  return rows.map(({ name }) => name);
}

test('a marked statement is prepared once a connection, any other never, and behind a pooler none', async () => {
  expect(await namesAfterUse(true)).toEqual(['test_marked']);
  expect(await namesAfterUse(false)).toEqual([]);
});

const nameOf = prepare('test_built', (db, slot: Slots<{ id: WorkspaceId; other: string }>) =>
  db
    .selectFrom('workspaces')
    .select(['name', sql<string>`${slot('other')}::text || ${'!'}`.as('other')])
    .where('id', '=', slot('id')),
);

test('a statement that was built once runs with the values of each run, under its name', async () => {
  const db = createDatabase({ connectionString: database.url, poolSize: 1, prepareStatements: true });
  for (const name of ['Garden', 'Kitchen']) {
    const { workspaceId } = await createWorkspace(db, { name, credits: 0 });
    expect(await nameOf(db, { id: workspaceId, other: name })).toEqual([{ name, other: `${name}!` }]);
  }
  const { rows } = await sql`SELECT FROM pg_prepared_statements WHERE name = 'test_built'`.execute(db);
  expect(rows).toHaveLength(1);
  await db.destroy();
});

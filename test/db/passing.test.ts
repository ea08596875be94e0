import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { errorKind } from '../../src/db/passing.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** How the error of the work has to be taken. */
const kindOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => errorKind(error),
  );

async function withDatabase(url: string, work: (db: Database) => Promise<unknown>): Promise<string> {
  const db = createDatabase({ connectionString: url, poolSize: 1 });
  try {
    return await kindOf(work(db));
  } finally {
    await db.destroy();
  }
}

it('what a connection is to blame for passes', async () => {
  const nobody = new URL(database.url);
  nobody.port = '1';
  const kinds = [
    await withDatabase(nobody.href, (db) => sql`SELECT 1`.execute(db)),
    await withDatabase(database.url, (db) => sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(db)),
    await withDatabase(database.url, async (db) => {
      await sql`SET default_transaction_read_only = on`.execute(db);
      return sql`CREATE TABLE nothing ()`.execute(db);
    }),
    await withDatabase(database.url, async (db) => {
      await sql`SET lock_timeout = '50ms'`.execute(db);
      return database.db.transaction().execute(async (tx) => {
        await sql`LOCK TABLE workspaces`.execute(tx);
        return sql`SELECT FROM workspaces`.execute(db);
      });
    }),
  ];
  expect(kinds).toEqual(['passing', 'passing', 'passing', 'passing']);
  const closed = createDatabase({ connectionString: database.url });
  await sql`SELECT 1`.execute(closed);
  await closed.destroy();
  // A fetch that fails is a TypeError, but one with a network's reason.
  expect(
    errorKind(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) })),
  ).toBe('passing');
});

it('what the same statement or code is certain to end in again lasts, and the rest is unknown', async () => {
  const { db } = database;
  expect([
    await kindOf(sql`SELECT 1 / 0`.execute(db)),
    await kindOf(sql`SELECT 'x'::uuid`.execute(db)),
    await kindOf(sql`INSERT INTO wallets (workspace_id) VALUES (gen_random_uuid())`.execute(db)),
    errorKind(new TypeError('x is not a function')),
  ]).toEqual(['lasting', 'lasting', 'lasting', 'lasting']);
  expect([
    await kindOf(sql`SELECT missing FROM workspaces`.execute(db)),
    await kindOf(sql`DO 'BEGIN RAISE EXCEPTION ''no''; END'`.execute(db)),
    errorKind(new Error('who knows')),
  ]).toEqual(['unknown', 'unknown', 'unknown']);
});

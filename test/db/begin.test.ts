import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createDatabase, type Database, type Queryable } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let db: Database;
/** What went to Postgres, message by message. */
let sent: string[];
beforeAll(async () => {
  database = await createTestDatabase();
  await sql`CREATE TABLE marks (name text PRIMARY KEY)`.execute(database.db);
  const url = new URL(database.url);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = proxy.address;
  db = createDatabase({ connectionString: url.href, poolSize: 1 });
});
beforeEach(async () => {
  await sql`SELECT 1`.execute(db);
  sent = [];
  proxy.onSent = (bytes) => sent.push(bytes.toString('latin1'));
});
afterEach(async () => {
  await sql`TRUNCATE marks`.execute(database.db);
});
afterAll(async () => {
  await db.destroy();
  await proxy.close();
  await database.drop();
});

const mark = (use: Queryable, name: string) => sql`INSERT INTO marks VALUES (${name})`.execute(use);
const marks = async () =>
  (await sql<{ name: string }>`SELECT name FROM marks ORDER BY name`.execute(database.db)).rows.map(
    ({ name }) => name,
  );

it('a transaction begins in one message with its first statement, and one that asks nothing sends none', async () => {
  await db.transaction().execute(async (tx) => {
    await mark(tx, 'one');
    await mark(tx, 'two');
  });
  expect(sent).toHaveLength(3);
  expect(sent[0]).toMatch(/begin.*INSERT INTO marks/s);
  expect(sent[2]).toMatch(/commit/);
  expect(await db.transaction().execute(async () => 'nothing')).toBe('nothing');
  const failed = db.transaction().execute(() => Promise.reject(new Error('stopped by the test')));
  await expect(failed).rejects.toThrow('stopped by the test');
  expect(sent).toHaveLength(3);
  expect(await marks()).toEqual(['one', 'two']);
});

it('what is rolled back leaves nothing, whichever statement failed, and the connection goes on', async () => {
  const failing = (work: (tx: Queryable) => Promise<unknown>) =>
    expect(db.transaction().execute(work)).rejects.toThrow();
  await failing((tx) => sql`SELECT 1 / 0`.execute(tx));
  await failing(async (tx) => {
    await mark(tx, 'one');
    await mark(tx, 'one');
  });
  await failing(async (tx) => {
    await mark(tx, 'two');
    throw new Error('stopped by the test');
  });
  await mark(db, 'alone');
  await failing(async (tx) => {
    await mark(tx, 'three');
    await mark(tx, 'alone');
  });
  expect(await marks()).toEqual(['alone']);
});

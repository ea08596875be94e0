import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDatabase, type Database, type Queryable } from '../../src/db/database.ts';
import { errorKind } from '../../src/db/passing.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { eventually } from '../support/wait.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let db: Database;
/** What was told of connections that were lost. */
let lost: string[];
beforeAll(async () => {
  database = await createTestDatabase();
  await sql`CREATE TABLE marks (name text PRIMARY KEY)`.execute(database.db);
});
afterAll(() => database.drop());
beforeEach(async () => {
  const url = new URL(database.url);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = proxy.address;
  lost = [];
  db = createDatabase({
    connectionString: url.href,
    poolSize: 2,
    statementTimeout: 1_000,
    connectTimeout: 1_000,
    applicationName: 'watched',
    onError: (error) => lost.push(error.message),
  });
});
afterEach(async () => {
  await db.destroy();
  await proxy.close();
});

/** The processes of Postgres that serve the pool. */
async function sessions(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    SELECT pid FROM pg_stat_activity WHERE application_name = 'watched' AND datname = current_database() ORDER BY pid
  `.execute(database.db);
  return rows.map(({ pid }) => pid);
}
const one = (use: Queryable = db) => sql`SELECT 1`.execute(use);

test.each(['BEGIN', 'a statement', 'COMMIT', 'ROLLBACK'] as const)(
  '%s that gets no answer fails as on a lost connection, and the next caller has a new one',
  async (step) => {
    await one();
    const failed = (async () => {
      if (step === 'BEGIN') proxy.silence();
      await db.transaction().execute(async (tx) => {
        if (step === 'a statement') proxy.silence();
        await one(tx);
        if (step !== 'BEGIN') proxy.silence();
        if (step === 'ROLLBACK') throw new Error('stopped by the test');
      });
    })().catch((error: unknown) => error);
    const error = await Promise.race([failed, sleep(8_000, 'still waiting')]);
    expect(errorKind(error)).toBe('passing');
    proxy.speak({ lost: true });
    await one();
    await Promise.all([one(), one()]);
  },
);

test('connections that idled while another waited in vain are not given to anybody', async () => {
  await Promise.all([sql`SELECT pg_sleep(0.1)`.execute(db), one()]);
  proxy.silence();
  await expect(one()).rejects.toThrow(/Postgres has not answered for 3 seconds/);
  proxy.speak({ lost: true });
  await one();
});

test('connections that idle while a statement takes long are asked, and kept when they answer', async () => {
  await Promise.all([sql`SELECT pg_sleep(0.1)`.execute(db), one()]);
  const before = await sessions();
  await db.transaction().execute(async (tx) => {
    await sql`SET LOCAL statement_timeout = 0`.execute(tx);
    await sql`SELECT pg_sleep(2.5)`.execute(tx);
  });
  expect(before).toHaveLength(2);
  expect(await sessions()).toEqual(before);
  expect(lost).toEqual([]);
});

test('a connection that is lost while it idles is told of once', async () => {
  await one();
  await sql`SELECT pg_terminate_backend(${(await sessions())[0]}::int)`.execute(database.db);
  await eventually(
    async () => lost.length,
    (count) => count > 0,
  );
  await sleep(100);
  expect(lost).toHaveLength(1);
});

test('a transaction whose client has vanished holds its locks for no longer than 15 seconds', async () => {
  const gone = db.transaction().execute(async (tx) => {
    await sql`INSERT INTO marks VALUES ('gone')`.execute(tx);
    proxy.silence();
  });
  await expect(gone).rejects.toThrow(/connection error/);
  proxy.speak({ lost: true });
  await sql`INSERT INTO marks VALUES ('gone')`.execute(database.db);
}, 30_000);

test('closing the pool does not wait for a peer that is silent', async () => {
  const own = createDatabase({
    connectionString: `postgres://${new URL(database.url).username}:${new URL(database.url).password}@${proxy.address}${new URL(database.url).pathname}`,
  });
  await one(own);
  proxy.silence();
  await expect(Promise.race([own.destroy(), sleep(3_000, 'still waiting')])).resolves.toBeUndefined();
});

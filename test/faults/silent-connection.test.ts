import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { createDatabase, type Queryable } from '../../src/db/database.ts';
import { errorKind } from '../../src/db/error-kind.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { eventually } from '../support/wait.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await sql`CREATE TABLE marks (name text PRIMARY KEY)`.execute(database.db);
});
afterAll(() => database.drop());

const one = (db: Queryable) => sql`SELECT 1`.execute(db);

/** A pool of one test alone, which runs beside others, whose way to Postgres can fall silent. */
async function watch({ task, onTestFinished }: Pick<TestContext, 'task' | 'onTestFinished'>) {
  const url = new URL(database.url);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  onTestFinished(() => proxy.close());
  url.host = proxy.address;
  /** What was told of connections that were lost. */
  const lost: string[] = [];
  const db = createDatabase({
    connectionString: url.href,
    poolSize: 2,
    statementTimeout: 1_000,
    connectTimeout: 1_000,
    applicationName: task.id,
    onError: (error) => lost.push(error.message),
  });
  onTestFinished(() => db.destroy());
  return {
    ...{ proxy, url, lost, db },
    /** The processes of Postgres that serve the pool. */
    async sessions(): Promise<number[]> {
      const { rows } = await sql<{ pid: number }>`
        SELECT pid FROM pg_stat_activity WHERE application_name = ${task.id} AND datname = current_database() ORDER BY pid
      `.execute(database.db);
      return rows.map(({ pid }) => pid);
    },
  };
}

test.concurrent.for(['BEGIN', 'a statement', 'COMMIT', 'ROLLBACK'] as const)(
  '%s that gets no answer fails as on a lost connection, and the next caller has a new one',
  async (step, context) => {
    const { proxy, db } = await watch(context);
    await one(db);
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
    expect(errorKind(error)).toBe('transient');
    proxy.speak({ lost: true });
    await one(db);
    await Promise.all([one(db), one(db)]);
  },
);

test.concurrent('connections that idled while another waited in vain are not handed out', async (context) => {
  const { proxy, db } = await watch(context);
  await Promise.all([sql`SELECT pg_sleep(0.1)`.execute(db), one(db)]);
  proxy.silence();
  await expect(one(db)).rejects.toThrow(/Postgres has not responded for 3 seconds/);
  proxy.speak({ lost: true });
  await one(db);
});

test.concurrent('connections that idle while a statement takes long are probed, and kept when they respond', async (context) => {
  const { lost, db, sessions } = await watch(context);
  await Promise.all([sql`SELECT pg_sleep(0.1)`.execute(db), one(db)]);
  const before = await sessions();
  await db.transaction().execute(async (tx) => {
    await sql`SET LOCAL statement_timeout = 0`.execute(tx);
    await sql`SELECT pg_sleep(2.5)`.execute(tx);
  });
  expect(before).toHaveLength(2);
  expect(await sessions()).toEqual(before);
  expect(lost).toEqual([]);
});

test.concurrent('a connection that is lost while it idles is reported once', async (context) => {
  const { db, lost, sessions } = await watch(context);
  await one(db);
  await sql`SELECT pg_terminate_backend(${(await sessions())[0]}::int)`.execute(database.db);
  await eventually(
    async () => lost.length,
    (count) => count > 0,
  );
  await sleep(100);
  expect(lost).toHaveLength(1);
});

test.concurrent('a transaction whose client has vanished holds its locks for no longer than 15 seconds', async (context) => {
  const { proxy, db } = await watch(context);
  const gone = db.transaction().execute(async (tx) => {
    await sql`INSERT INTO marks VALUES ('gone')`.execute(tx);
    proxy.silence();
  });
  await expect(gone).rejects.toThrow(/connection error/);
  proxy.speak({ lost: true });
  await sql`INSERT INTO marks VALUES ('gone')`.execute(database.db);
}, 30_000);

test.concurrent('closing the pool does not wait for a peer that is silent', async (context) => {
  const { proxy, url } = await watch(context);
  const own = createDatabase({ connectionString: url.href });
  await one(own);
  proxy.silence();
  await expect(Promise.race([own.destroy(), sleep(3_000, 'still waiting')])).resolves.toBeUndefined();
});

import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createDatabase, type Database, type Queryable, type Tx } from '../../src/db/database.ts';
import { firstStatement, lastStatement, prepareBoth, type Slots } from '../../src/db/prepared.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { eventually } from '../support/wait.ts';

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

it('a transaction begins in one message with its first statement, and an empty one sends none', async () => {
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

type Name = { name: string };
const bothOf = prepareBoth(
  ['lock_mark', 'count_marks'],
  (_db, slot: Slots<Name>) => sql<Name>`SELECT name FROM marks WHERE name = ${slot('name')} FOR UPDATE`,
  () => sql<{ marks: number }>`SELECT count(*)::integer AS marks FROM marks`,
);

it('joined statements begin in one message, and the second sees what the first one has waited for', async () => {
  await mark(database.db, 'one');
  let both: Promise<unknown> | undefined;
  await database.db.transaction().execute(async (other) => {
    await sql`SELECT FROM marks FOR UPDATE`.execute(other);
    both = db.transaction().execute((tx) => bothOf(tx, { name: 'one' }));
    await eventually(
      () => sql`SELECT FROM pg_locks WHERE NOT granted`.execute(database.db),
      ({ rows }) => rows.length > 0,
    );
    await mark(other, 'two');
  });
  expect(await both).toEqual([[{ name: 'one' }], [{ marks: 2 }]]);
  expect(sent).toHaveLength(2);
  expect(sent[0]).toMatch(/begin.*FOR UPDATE.*count/s);
});

const markLast = lastStatement<Name>('mark_last', 'INSERT INTO marks VALUES ($1) RETURNING name');

it('COMMIT goes out with the last statement, and takes nothing back or along when that one fails', async () => {
  const both = (first: string, last: string) =>
    db.transaction().execute(async (tx) => {
      await mark(tx, first);
      return markLast(tx, last);
    });
  expect(await both('one', 'two')).toEqual([{ name: 'two' }]);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toMatch(/INSERT INTO marks.*commit/s);
  await expect(both('three', 'two')).rejects.toThrow('marks_pkey');
  expect(await both('four', 'five')).toEqual([{ name: 'five' }]);
  expect(await marks()).toEqual(['five', 'four', 'one', 'two']);
});

it('nothing may follow the last statement of a transaction, and nothing that does is done', async () => {
  const work = async (tx: Tx) => {
    await markLast(tx, 'last');
    await mark(tx, 'late');
  };
  await expect(db.transaction().execute(work)).rejects.toThrow('Nothing may follow');
  await mark(db, 'alone');
  expect(await marks()).toEqual(['alone', 'last']);
});

const requireMark = firstStatement(
  'require_mark',
  `SELECT CASE WHEN NOT EXISTS (SELECT FROM marks WHERE name = $1) THEN refuse('WC999', $1) END`,
);

it('a first statement goes out in the message of the next one, and none goes out for an empty transaction', async () => {
  await mark(database.db, 'leave');
  await db.transaction().execute(async (tx) => {
    await requireMark(tx, 'leave');
    await mark(tx, 'one');
  });
  expect(sent).toHaveLength(2);
  expect(sent[0]).toMatch(/begin.*refuse.*INSERT INTO marks/s);
  await db.transaction().execute((tx) => requireMark(tx, 'nothing'));
  expect(sent).toHaveLength(2);
  await db.transaction().execute(async (tx) => {
    await requireMark(tx, 'leave');
    await markLast(tx, 'two');
  });
  expect(sent).toHaveLength(3);
  expect(await marks()).toEqual(['leave', 'one', 'two']);
});

it('when it fails nothing of the transaction has an effect, a COMMIT in its message included, and the connection goes on', async () => {
  const refusedFor = (work: (tx: Tx) => Promise<unknown>) =>
    expect(
      db.transaction().execute(async (tx) => {
        await requireMark(tx, 'nothing');
        await work(tx);
      }),
    ).rejects.toMatchObject({ code: 'WC999', detail: 'nothing' });
  await refusedFor((tx) => mark(tx, 'one'));
  await refusedFor((tx) => markLast(tx, 'two'));
  await refusedFor((tx) => bothOf(tx, { name: 'one' }));
  await refusedFor((tx) => Promise.all([mark(tx, 'three'), mark(tx, 'four')]));
  await mark(db, 'five');
  expect(await marks()).toEqual(['five']);
});

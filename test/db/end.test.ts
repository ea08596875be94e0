import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPool } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const CONNECTIONS = 10;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** A pool that has opened all of its connections, and how many of them are closed by now. */
async function openAll(connectionString: string) {
  const pool = createPool({ connectionString, poolSize: CONNECTIONS });
  let closed = 0;
  pool.on('remove', () => {
    closed += 1;
  });
  await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query('SELECT pg_sleep(0.1)')));
  return { pool, closed: () => closed };
}

it('a pool has ended once each of its connections is closed, so that Postgres may be stopped', async () => {
  const { pool, closed } = await openAll(database.url);
  await pool.end();
  expect(closed()).toBe(CONNECTIONS);
});

it('a pool ends although Postgres has silently gone', async () => {
  const url = new URL(database.url);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = proxy.address;
  const { pool, closed } = await openAll(url.href);
  proxy.silence();
  await pool.end();
  expect(closed()).toBe(CONNECTIONS);
  await proxy.close();
});

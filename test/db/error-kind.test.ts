import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TLSSocket } from 'node:tls';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { errorKind } from '../../src/db/error-kind.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createCertificate } from '../webhooks/sending/support/certificate.ts';

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
  expect(kinds).toEqual(['transient', 'transient', 'transient', 'transient']);
  const closed = createDatabase({ connectionString: database.url });
  await sql`SELECT 1`.execute(closed);
  await closed.destroy();
  // A fetch that fails is a TypeError, but one with a network's reason.
  expect(
    errorKind(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) })),
  ).toBe('transient');
});

/** A database's URL with some part changed. */
const changed = (change: (url: URL) => void): string => {
  const url = new URL(database.url);
  change(url);
  return url.href;
};
const ask = (url: string) => withDatabase(url, (db) => sql`SELECT 1`.execute(db));

it('what keeps us from connecting, or ends a session or a statement that took too long, passes', async () => {
  expect({
    socket: await ask(changed((url) => url.searchParams.set('host', '/nowhere/at/all'))),
    user: await ask(changed((url) => Object.assign(url, { username: 'nobody' }))),
    database: await ask(changed((url) => Object.assign(url, { pathname: '/nothing' }))),
    withoutTls: await ask(changed((url) => url.searchParams.set('sslmode', 'verify-full'))),
    tooLong: await withDatabase(database.url, async (db) => {
      await sql`SET statement_timeout = '20ms'`.execute(db);
      return sql`SELECT pg_sleep(5)`.execute(db);
    }),
  }).toEqual({
    socket: 'transient',
    user: 'transient',
    database: 'transient',
    withoutTls: 'transient',
    tooLong: 'transient',
  });
});

it('a certificate of Postgres that has expired passes', async () => {
  const yesterday = new Date(Date.now() - 2 * 86_400_000);
  const { key, cert } = createCertificate('localhost', yesterday);
  const server = createServer((socket) => {
    // The answer to the request for TLS, which Postgres gives before the handshake.
    socket.once('data', () => {
      socket.write('S');
      const secured = new TLSSocket(socket, { isServer: true, key, cert });
      secured.on('error', () => socket.destroy());
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'wcs-ca-'));
  try {
    writeFileSync(path.join(folder, 'ca.pem'), cert);
    const url = changed((each) => {
      each.host = `localhost:${(server.address() as AddressInfo).port}`;
      each.searchParams.set('sslmode', 'verify-full');
      each.searchParams.set('sslrootcert', path.join(folder, 'ca.pem'));
    });
    expect(await ask(url)).toBe('transient');
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});

it('a file that is missing is not a connection that is', async () => {
  expect(await kindOf(readFile('/nowhere/at/all'))).toBe('unknown');
});

it('what the same statement or code is certain to end in again lasts, and the rest is unknown', async () => {
  const { db } = database;
  expect([
    await kindOf(sql`SELECT 1 / 0`.execute(db)),
    await kindOf(sql`SELECT 'x'::uuid`.execute(db)),
    await kindOf(sql`INSERT INTO wallets (workspace_id) VALUES (gen_random_uuid())`.execute(db)),
    errorKind(new TypeError('x is not a function')),
  ]).toEqual(['permanent', 'permanent', 'permanent', 'permanent']);
  expect([
    await kindOf(sql`SELECT missing FROM workspaces`.execute(db)),
    await kindOf(sql`DO 'BEGIN RAISE EXCEPTION ''no''; END'`.execute(db)),
    errorKind(new Error('who knows')),
  ]).toEqual(['unknown', 'unknown', 'unknown']);
});

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { migrateDown, migrateToLatest } from '../../src/db/migrate.ts';
import { newId, type WorkspaceId } from '../../src/ids.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const MIGRATION = '0016_delivery_log';

let database: TestDatabase;
let db: Database;
let workspaceId: WorkspaceId;
const endpointId = newId();
/** A database as 0.1 left it. */
beforeEach(async () => {
  database = await createTestDatabase();
  db = database.db;
  ({ workspaceId } = await createWorkspace(db, { name: 'Acme', credits: 0 }));
  await sql`INSERT INTO webhook_endpoints (id, workspace_id, url, secret, events)
    VALUES (${endpointId}, ${workspaceId}, 'http://127.0.0.1:9/', 'secret', '{article.created}')`.execute(db);
  await takeBack();
});
afterEach(() => database.drop());

async function takeBack(): Promise<void> {
  let taken: string | undefined;
  do [taken] = await migrateDown(db);
  while (taken !== MIGRATION);
}

/**
 * Stores deliveries of 0.1, each with an event of its own.
 * @param age SQL: how long ago they were made, an interval over the number `n`
 * @param columns what they have beyond what every one has, as SQL over `created`
 */
async function store(count: number, age: string, columns: Readonly<Record<string, string>>, attempts = 0) {
  const names = sql.raw(
    Object.keys(columns)
      .map((name) => `, ${name}`)
      .join(''),
  );
  const values = sql.raw(
    Object.values(columns)
      .map((value) => `, ${value}`)
      .join(''),
  );
  const { rows } = await sql<{ id: string }>`
    WITH event AS (
      INSERT INTO events (id, workspace_id, type, body, created_at)
      SELECT gen_random_uuid(), ${workspaceId}, 'article.created', convert_to('{"n":' || n || '}', 'UTF8'),
        now() - ${sql.raw(age)}
      FROM generate_series(1, ${count}::integer) AS n RETURNING id, created_at AS created
    ), delivery AS (
      INSERT INTO webhook_deliveries (id, workspace_id, endpoint_id, event_id, event_type, created_at, attempts${names})
      SELECT gen_random_uuid(), ${workspaceId}, ${endpointId}, id, 'article.created', created, ${attempts}::integer${values}
      FROM event RETURNING id, created_at
    ), attempt AS (
      INSERT INTO webhook_attempts (delivery_id, number, started_at, duration_ms, response_status, error_message,
        response_body)
      SELECT id, number, '2026-01-02 03:04:05.006+02'::timestamptz + number * interval '1 hour', 12, 503,
        'The receiver responded with 503.', 'Zu spät "heute" \\ '
      FROM delivery, generate_series(${attempts}::integer, 1, -1) AS number
    )
    SELECT id FROM delivery`.execute(db);
  return rows.map(({ id }) => id);
}

const failed = {
  status: `'failed'`,
  error_message: `'The receiver responded with 503.'`,
  response_status: '503',
};
const succeeded = {
  status: `'succeeded'`,
  delivered_at: `created`,
  ended_at: `created`,
  response_status: '204',
};
const later = `now() + interval '2 minutes'`;

const attempt = (number: number) => ({
  number,
  startedAt: `2026-01-02T0${1 + number}:04:05.006Z`,
  durationMs: 12,
  responseStatus: 503,
  errorMessage: 'The receiver responded with 503.',
  responseBody: 'Zu spät "heute" \\ ',
});

const count = async (table: string) =>
  (await sql<{ count: number }>`SELECT count(*)::integer AS count FROM ${sql.id(table)}`.execute(db)).rows[0]
    ?.count ?? 0;

it('takes every delivery of 0.1 over with its id, its age and its attempts, whoever has it', async () => {
  const began = Date.now();
  const burst = `'${newId()}'`;
  const fresh = { next_attempt_at: 'created' };
  const open = {
    waiting: await store(3, `interval '5 minutes'`, fresh),
    // Its start may have reached Temporal.
    leased: await store(2, `interval '1 minute'`, { ...fresh, claimed_until: `now() + interval '20 s'` }),
    startFailed: await store(
      1,
      `interval '1 minute'`,
      { ...failed, next_attempt_at: later, claimed_until: 'now()' },
      3,
    ),
    retry: await store(2, `interval '1 day'`, { ...failed, next_attempt_at: later }, 2),
    inRun: await store(2, `interval '1 minute'`, { ...fresh, outbox: 'false', handed_over_at: 'now()' }),
    retryInRun: await store(
      1,
      `interval '2 days'`,
      { ...failed, outbox: 'false', next_attempt_at: later },
      5,
    ),
    inBurst: await store(2, `interval '1 minute'`, { ...fresh, outbox: 'false', burst_id: burst }),
    begun: await store(2, `interval '1 minute'`, {
      ...fresh,
      outbox: 'false',
      burst_id: burst,
      begun_at: 'now()',
    }),
  };
  const ended = { ...failed, ended_at: 'created', outbox: 'false' };
  const log = {
    today: await store(3, `interval '1 minute'`, { ...succeeded, outbox: 'false', burst_id: burst }, 1),
    longAgo: await store(40, `n * interval '1 day'`, ended, 6),
    disabled: await store(1, `interval '3 days'`, { ...ended, response_status: 'NULL' }),
  };
  const created = async (table: string) =>
    new Map(
      (
        await sql<{ id: string; created_at: Date }>`SELECT id, created_at FROM ${sql.id(table)}`.execute(db)
      ).rows.map((row) => [row.id, row.created_at.getTime()]),
    );
  const before = { deliveries: await created('webhook_deliveries'), events: await created('events') };
  await migrateToLatest(db);

  const after = await created('webhook_open');
  for (const [id, at] of await created('webhook_log')) after.set(id, at);
  expect(after).toEqual(before.deliveries);
  expect(await created('events')).toEqual(before.events);
  expect([await count('events_default'), await count('webhook_log_default')]).toEqual([0, 0]);

  const rows = await db
    .selectFrom('webhook_open as open')
    .innerJoin('events as event', (join) =>
      join.onRef('event.id', '=', 'open.event_id').onRef('event.created_at', '=', 'open.event_created_at'),
    )
    .selectAll('open')
    .execute();
  const states = (ids: readonly string[]) => {
    const found = rows.filter(({ id }) => ids.includes(id));
    expect(found).toHaveLength(ids.length);
    return new Set(
      found.map((row) => {
        const holder = row.in_run ? 'run' : row.burst_id === null ? 'free' : 'burst';
        const due = Math.floor((row.due_at.getTime() - began) / 30_000) / 2;
        return `${holder} ${row.status} ${row.attempts} of ${row.attempt_log.length}, begun ${row.begun}, due ${Math.max(0, due)}`;
      }),
    );
  };
  expect(Object.fromEntries(Object.entries(open).map(([name, ids]) => [name, [...states(ids)]]))).toEqual({
    waiting: ['free pending 0 of 0, begun 0, due 0'],
    leased: ['run pending 0 of 0, begun 0, due 0'],
    startFailed: ['run failed 3 of 3, begun 3, due 2'],
    retry: ['free failed 2 of 2, begun 2, due 2'],
    inRun: ['run pending 0 of 0, begun 0, due 0'],
    retryInRun: ['run failed 5 of 5, begun 5, due 2'],
    inBurst: ['free pending 0 of 0, begun 0, due 0'],
    begun: ['free failed 1 of 0, begun 1, due 0.5'],
  });
  const lost = rows.find(({ id }) => id === open.begun[0]);
  expect(lost?.error_message).toBe('The attempt was interrupted and its outcome is unknown.');
  expect(rows.find(({ id }) => id === open.retry[0])?.attempt_log).toEqual([attempt(1), attempt(2)]);

  const inLog = async (ids: readonly string[]) =>
    db
      .selectFrom('webhook_log as log')
      .innerJoin('events as event', (join) =>
        join.onRef('event.id', '=', 'log.event_id').onRef('event.created_at', '=', 'log.event_created_at'),
      )
      .select([
        'status',
        'attempts',
        'response_status',
        'attempt_log',
        'in_run',
        'burst_id',
        'delivered_at',
        'ended_at',
      ])
      .select('log.created_at')
      .where('log.id', '=', sql<never>`ANY (${[...ids]}::uuid[])`)
      .execute();
  for (const row of await inLog(log.today)) {
    const at = row.created_at;
    expect(row).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      in_run: false,
      delivered_at: at,
      ended_at: at,
    });
    expect(row.burst_id).toBe(burst.slice(1, -1));
  }
  const [old] = await inLog(log.longAgo);
  expect(old).toMatchObject({ status: 'failed', attempts: 6, in_run: true, delivered_at: null });
  expect(old?.attempt_log).toEqual([1, 2, 3, 4, 5, 6].map(attempt));
  expect(await inLog(log.disabled)).toMatchObject([{ attempts: 0, attempt_log: [], response_status: null }]);
});

it('goes on where it was killed between two batches, with nothing lost or doubled', async () => {
  await store(20, `interval '1 minute'`, { next_attempt_at: 'created' });
  await store(30_000, `n * interval '10 s'`, { ...succeeded, outbox: 'false' }, 1);
  const before = await sql`SELECT id, event_id FROM webhook_deliveries ORDER BY id`.execute(db);
  const killed = createDatabase({
    connectionString: database.url,
    poolSize: 1,
    applicationName: 'migrating',
  });
  const lines: string[] = [];
  const kill = (line: string) => {
    lines.push(line);
    sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'migrating' AND datname = current_database()`.execute(db);
  };
  await expect(migrateToLatest(killed, kill)).rejects.toThrow();
  await killed.destroy();
  expect(lines[0]).toMatch(/^0016_delivery_log: \d+ rows of webhook_deliveries_0_1 moved, \d+ % of it$/);
  const moved = await count('webhook_log');
  expect(moved).toBeGreaterThan(0);
  expect(moved).toBeLessThan(30_000);
  await Promise.all([migrateToLatest(db), migrateToLatest(db)]);
  const after = await sql`
    SELECT delivery.id, event_id FROM (
      SELECT id, event_id, event_created_at FROM webhook_log
      UNION ALL SELECT id, event_id, event_created_at FROM webhook_open
    ) AS delivery JOIN events AS event ON event.id = event_id AND event.created_at = event_created_at
    ORDER BY 1`.execute(db);
  expect(after.rows).toEqual(before.rows);
  expect(await count('events')).toBe(30_020);
});

it('refuses beside a process of 0.1, says which, and changes nothing until it has ended', async () => {
  await store(3, `interval '1 minute'`, { next_attempt_at: 'created' });
  const connect = async (applicationName: string) => {
    const process = createDatabase({ connectionString: database.url, poolSize: 1, applicationName });
    await sql`SELECT 1`.execute(process);
    return process;
  };
  const older = [
    await connect('workspace-content-service worker'),
    await connect('workspace-content-service server'),
  ];
  const own = await connect('workspace-content-service 0.2 worker');
  await expect(migrateToLatest(db)).rejects.toThrow(
    /^Processes of release 0\.1 are connected .* server \(Postgres process \d+\), worker \(Postgres process \d+\)\. Stop every server and worker of 0\.1, then migrate again\./,
  );
  expect(await count('webhook_deliveries')).toBe(3);
  for (const process of older) await process.destroy();
  await migrateToLatest(db);
  expect(await count('webhook_open')).toBe(3);
  const takeAllBack = async () => {
    while ((await migrateDown(db)).length > 0);
  };
  await expect(takeAllBack()).rejects.toThrow(/^Processes of release 0\.2 are connected .* worker/);
  await own.destroy();
});

it('keeps what a process of 0.1 writes that is started in the middle from getting lost: it fails', async () => {
  await migrateToLatest(db);
  await expect(store(1, `interval '1 minute'`, {})).rejects.toThrow(/webhook_deliveries/);
  await expect(
    sql`INSERT INTO events (id, workspace_id, type, body)
      VALUES (gen_random_uuid(), ${workspaceId}, 'article.created', '{}')`.execute(db),
  ).rejects.toThrow(/created_at/);
});

it('goes back to 0.1 with every delivery, and forward again', async () => {
  await store(3, `interval '1 minute'`, { next_attempt_at: 'created' });
  await store(2, `interval '1 minute'`, {
    next_attempt_at: 'created',
    outbox: 'false',
    handed_over_at: 'now()',
  });
  await store(2, `interval '1 day'`, { ...failed, next_attempt_at: later }, 2);
  await store(5, `n * interval '1 day'`, { ...failed, ended_at: 'created', outbox: 'false' }, 6);
  await store(5, `n * interval '1 day'`, { ...succeeded, outbox: 'false' }, 1);
  const everything = async () => ({
    deliveries: (
      await sql`SELECT id, endpoint_id, event_id, status, attempts, response_status, error_message, delivered_at,
          next_attempt_at, ended_at, outbox, created_at FROM webhook_deliveries
        ORDER BY id`.execute(db)
    ).rows.map((row) => ({ ...(row as object), next_attempt_at: undefined })),
    attempts: (await sql`SELECT * FROM webhook_attempts ORDER BY delivery_id, number`.execute(db)).rows,
    events: (await sql`SELECT * FROM events ORDER BY id`.execute(db)).rows,
  });
  const before = await everything();
  await migrateToLatest(db);
  await takeBack();
  expect(await everything()).toEqual(before);
  await migrateToLatest(db);
  // A burst of 0.2 had begun a second attempt, and a sixth; an endpoint is being deleted.
  const ids = (await db.selectFrom('webhook_open').select('id').orderBy('created_at').execute()).map(
    ({ id }) => id,
  );
  await sql`UPDATE webhook_open SET burst_id = ${newId()}, in_run = false, begun = CASE id WHEN ${ids[0]} THEN 6 ELSE 2 END,
      attempts = 1, status = 'failed', error_message = 'The receiver responded with 503.'
    WHERE id = ANY (${ids.slice(0, 2)}::uuid[])`.execute(db);
  await takeBack();
  const { rows } = await sql<{ id: string; state: string }>`
    SELECT id, concat_ws(' ', status, attempts, outbox, ended_at IS NOT NULL, error_message) AS state
    FROM webhook_deliveries WHERE id = ANY (${ids.slice(0, 2)}::uuid[])`.execute(db);
  const lost = 'The attempt was interrupted and its outcome is unknown.';
  expect(new Map(rows.map(({ id, state }) => [id, state]))).toEqual(
    new Map([
      [ids[0], `failed 6 f t ${lost}`],
      [ids[1], `failed 2 t f ${lost}`],
    ]),
  );
});

it('refuses a Postgres that is too old, and says what to do', async () => {
  await sql`CREATE SCHEMA older`.execute(db);
  await sql`CREATE FUNCTION older.current_setting(text) RETURNS text RETURN '17.6 (Debian 17.6-1)'`.execute(
    db,
  );
  const older = createDatabase({ connectionString: database.url, poolSize: 1 });
  await sql`SET search_path = older, pg_catalog, public`.execute(older);
  await expect(migrateToLatest(older)).rejects.toThrow(
    'DATABASE_URL leads to Postgres 17.6 (Debian 17.6-1); this release needs 18 or later. Upgrade the server',
  );
  await older.destroy();
});

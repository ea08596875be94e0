/**
 * Runs `npm start` of 0.1 (OLD_RELEASE, its folder with node_modules), stores 2,000 deliveries for five receivers, kills
 * it in the middle, so that they are in every state, and starts this release on the same data. Each delivery must end
 * as promised, under its own id. Ends with status 1 when anything is off. About two minutes.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { createDatabase, type Database } from '../src/db/database.ts';
import { readStackRecord } from '../src/local/stack-file.ts';
import { verifyWebhook } from '../src/webhooks/verify.ts';
import { type Receiver, startReceiver } from '../test/support/receiver.ts';
import { temporaryFolder } from './support/engines.ts';
import { print, seconds, table } from './support/report.ts';

const EVENTS = 400;
const READY_MS = 180_000;
/** What the receivers may have got before the kill: enough of everything, and much left. */
const UNDER_WAY_MS = 6_000;
const DRAIN_MS = 20 * 60_000;

const oldRelease = process.env.OLD_RELEASE;
if (oldRelease === undefined) throw new Error('Name the folder of a 0.1 in OLD_RELEASE.');
const folder = temporaryFolder();
const dataDir = join(folder.path, 'data');
const port = String(randomInt(20_000, 32_000));
const url = `http://127.0.0.1:${port}`;
const { PATH, HOME, TEMPORAL_CLI_PATH } = process.env;
const env = {
  ...{ PATH, HOME, TEMPORAL_CLI_PATH, PORT: port, DATA_DIR: dataDir, LOG_LEVEL: 'error' },
  ...{ RATE_LIMIT_PER_KEY: '0', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', RECONCILE_AFTER_SECONDS: '10' },
};

async function start(release: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['src/local/main.ts'], {
    ...{ cwd: release, env, stdio: ['ignore', 'ignore', 'inherit'] },
  });
  process.once('exit', () => child.kill('SIGTERM'));
  const deadline = Date.now() + READY_MS;
  while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('npm start did not get ready.');
    await sleep(100);
  }
  return child;
}

/** Ends it in order, or at once. */
async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

function databaseUrl(): string {
  const found = readStackRecord(dataDir)?.postgres?.databaseUrl;
  if (found === undefined) throw new Error('stack.json names no database.');
  return found;
}

const connect = (): Database =>
  createDatabase({ connectionString: databaseUrl(), applicationName: 'script' });

/** What `npm run migrate` of this release says beside the old one. */
const migrateBeside = (): string =>
  spawnSync(process.execPath, ['src/cli/migrate.ts'], {
    ...{ env: { ...env, DATABASE_URL: databaseUrl() }, encoding: 'utf8' },
  }).stderr;

function admin(release: string, ...args: string[]): { workspaceId: string; apiKey: { key: string } } {
  const { stdout, stderr } = spawnSync(process.execPath, ['src/cli/admin.ts', '--json', ...args], {
    ...{ cwd: release, env, encoding: 'utf8' },
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

type Behaviour = (first: boolean) => number | Promise<number>;

/** A receiver that counts the sends of each delivery whose signature is right. */
interface Witness {
  readonly name: string;
  readonly endpointId: string;
  readonly receiver: Receiver;
  readonly sends: Map<string, number>;
  readonly forged: string[];
}

async function witness(
  name: string,
  behave: Behaviour,
  register: (to: string) => Promise<{ id: string; secret: string }>,
): Promise<Witness> {
  const receiver = await startReceiver();
  const { id, secret } = await register(receiver.url);
  const made: Witness = { name, endpointId: id, receiver, sends: new Map(), forged: [] };
  receiver.answer = ({ raw, headers }) => {
    receiver.received.length = 0;
    try {
      const delivery = verifyWebhook(raw, headers, secret).deliveryId ?? '';
      const count = (made.sends.get(delivery) ?? 0) + 1;
      made.sends.set(delivery, count);
      return behave(count === 1);
    } catch (error) {
      made.forged.push(String(error));
      return 400;
    }
  };
  return made;
}

/** Stores events with a delivery for each endpoint, as 0.1 does in the transaction of a change. */
async function emit(db: Database, workspaceId: string, count: number): Promise<void> {
  await sql`
    WITH stored AS (
      INSERT INTO events (id, workspace_id, type, article_id, body)
      SELECT gen_random_uuid(), ${workspaceId}, 'article.created', article,
        convert_to('{"event":"article.created","data":{"articleId":"' || article || '"}}', 'UTF8')
      FROM (SELECT gen_random_uuid() AS article FROM generate_series(1, ${count}::integer)) AS articles RETURNING id, type
    ), queued AS (
      INSERT INTO webhook_deliveries (id, workspace_id, endpoint_id, event_id, event_type, next_attempt_at)
      SELECT gen_random_uuid(), ${workspaceId}, endpoint.id, stored.id, stored.type, now()
      FROM stored JOIN webhook_endpoints AS endpoint ON endpoint.workspace_id = ${workspaceId} RETURNING 1
    )
    SELECT pg_notify('webhook_outbox', '') WHERE EXISTS (SELECT FROM queued)`.execute(db);
}

/** How many deliveries of 0.1 are in each state. */
async function oldStates(db: Database): Promise<Map<string, number>> {
  const { rows } = await sql<{ state: string; count: number }>`
    SELECT CASE
        WHEN ended_at IS NOT NULL THEN 'ended ' || status
        WHEN outbox AND claimed_until IS NOT NULL THEN 'leased'
        WHEN outbox AND attempts > 0 THEN 'waits for a retry'
        WHEN outbox THEN 'waits'
        WHEN burst_id IS NOT NULL AND begun_at IS NOT NULL THEN 'begun in a burst'
        WHEN burst_id IS NOT NULL THEN 'in a burst'
        WHEN attempts > 0 THEN 'retried by its run'
        ELSE 'in its run'
      END AS state, count(*)::integer AS count
    FROM webhook_deliveries GROUP BY 1 ORDER BY 1`.execute(db);
  return new Map(rows.map(({ state, count }) => [state, count]));
}

const deliveryIds = async (db: Database, from: string): Promise<Set<string>> =>
  new Set((await sql<{ id: string }>`SELECT id FROM ${sql.raw(from)}`.execute(db)).rows.map(({ id }) => id));

try {
  print(`Starting the release of ${oldRelease}`);
  const before = await start(oldRelease);
  const { workspaceId, apiKey } = admin(oldRelease, 'workspace', 'create', '--name', 'Upgrade');
  const register = async (to: string) => {
    const response = await fetch(`${url}/api/workspaces/${workspaceId}/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: to, events: ['article.created'] }),
    });
    const { endpoint, secret } = (await response.json()) as { endpoint: { id: string }; secret: string };
    return { id: endpoint.id, secret };
  };
  let upgraded = false;
  const slowly = () => sleep(2_000, 204);
  const witnesses = [
    await witness('quick', () => 204, register),
    await witness('refusing', (first) => (first ? 503 : 204), register),
    await witness('gone', () => 404, register),
    await witness('slow', () => (upgraded ? 204 : slowly()), register),
    await witness('silent', () => (upgraded ? 204 : new Promise(() => undefined)), register),
  ];
  const old = connect();
  // A few in runs of their own, then a backlog, and what comes last.
  for (const count of [5, EVENTS - 10]) {
    await emit(old, workspaceId, count);
    await sleep(UNDER_WAY_MS / 2);
  }
  const refusal = migrateBeside();
  print(refusal);
  await emit(old, workspaceId, 5);
  await end(before, 'SIGKILL');
  const killedAt = Date.now();
  const states = await oldStates(old);
  const stored = await deliveryIds(old, 'webhook_deliveries');
  const sentBefore = new Map(witnesses.flatMap(({ sends }) => [...sends]));
  await old.destroy();
  print(table([[...states.keys()], [...states.values()]]));
  upgraded = true;

  print('Starting this release on its data');
  const after = await start('.');
  const db = connect();
  const startedAt = Date.now();
  print(`Ready ${seconds(startedAt - killedAt)} s after the kill`);
  let open = Number.POSITIVE_INFINITY;
  while (open > 0 && Date.now() - startedAt < DRAIN_MS) {
    await sleep(5_000);
    open = (await deliveryIds(db, 'webhook_open')).size;
    print(`${seconds(Date.now() - startedAt, 0).padStart(5)} s  ${open} open`);
  }

  const problems = witnesses.flatMap(({ forged }) => forged);
  if (!/release 0\.1 are connected .* relay .* worker/.test(refusal))
    problems.push('migrate did not refuse beside 0.1');
  if (stored.size !== 5 * EVENTS) problems.push(`${stored.size} deliveries stored`);
  for (const state of ['waits', 'in its run', 'begun in a burst', 'ended succeeded', 'ended failed']) {
    if (!states.has(state))
      problems.push(`none was in the state "${state}": the run shows less than it should`);
  }
  if (open > 0) problems.push(`${open} deliveries never ended`);
  const ended = await db
    .selectFrom('webhook_log')
    .select(['id', 'endpoint_id', 'status', 'attempts', 'error_message'])
    .execute();
  const lost = stored.difference(new Set<string>(ended.map(({ id }) => id)));
  if (lost.size > 0) problems.push(`${lost.size} deliveries lost`);
  if (ended.length !== stored.size) problems.push(`${ended.length} deliveries for ${stored.size}`);
  let repeated = 0;
  let attempts = 0;
  for (const row of ended) {
    const receiver = witnesses.find(({ endpointId }) => endpointId === row.endpoint_id);
    const sends = receiver?.sends.get(row.id) ?? 0;
    const expected = receiver?.name === 'gone' ? 'failed' : 'succeeded';
    if (row.status !== expected || sends === 0)
      problems.push(`${receiver?.name} ${row.id}: ${row.status}, ${sends} sends, ${row.error_message}`);
    // What was sent when 0.1 was killed may come once more, under the same id.
    if (sends > row.attempts + 1 || row.attempts > 6)
      problems.push(`${row.id}: ${sends} sends, ${row.attempts} attempts`);
    repeated += Math.max(0, sends - row.attempts);
    attempts += row.attempts;
  }
  await db.destroy();
  await end(after, 'SIGTERM');
  for (const { receiver } of witnesses) await receiver.close();

  const sends = witnesses.reduce((sum, each) => sum + [...each.sends.values()].reduce((a, b) => a + b, 0), 0);
  print(
    table([
      ['deliveries', 'sent before the kill', 'sends', 'attempts', 'sends not recorded'],
      [ended.length, sentBefore.size, sends, attempts, repeated],
    ]),
  );
  for (const problem of problems.slice(0, 20)) print(`OFF: ${problem}`);
  print(problems.length === 0 ? 'All arrived, none was lost.' : `${problems.length} problems.`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  if (process.exitCode === 0) folder.remove();
}

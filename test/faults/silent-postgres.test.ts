import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ArticleId, CategoryId, DeliveryId } from '../../src/ids.ts';
import { type RunningService, startServer } from '../../src/processes/server.ts';
import { categoryCalls } from '../categories/support.ts';
import { emit, register, untilDelivery } from '../support/events.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { logger, startTestService, type TestService, type TestWorkspace } from '../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { createStandIn, type StandIn, translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

/** What everybody may take after Postgres is back. */
const HEALED_MS = 30_000;
const SILENCE_MS = 3_000;

let service: TestService;
let postgres: TcpProxy;
let elsewhere: { host: string; port: number };
let moved: TcpProxy;
let server: RunningService;
let engine: StandIn;
let receiver: Receiver;
let workspace: TestWorkspace;

beforeEach(async () => {
  service = await startTestService();
  const url = new URL(service.config.DATABASE_URL);
  const home = { host: url.hostname, port: Number(url.port) };
  postgres = await startTcpProxy(home);
  moved = await startTcpProxy(home);
  elsewhere = { host: '127.0.0.1', port: Number(moved.address.split(':')[1]) };
  url.host = postgres.address;
  server = await startServer({ ...service.config, DATABASE_URL: url.href }, logger);
  engine = createStandIn();
  receiver = await startReceiver();
  workspace = await service.workspace(1000);
  await service.startWorker({ provider: engine }, { DATABASE_URL: url.href });
});
afterEach(async () => {
  await server.stop();
  await service.stop();
  await receiver.close();
  await postgres.close();
  await moved.close();
});

/** Sessions behind the proxy that wait for a lock. */
const lockWaiters = async (): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(service.db);
  return rows[0]?.count ?? 0;
};

const rename = async (id: string, name: string): Promise<number> => {
  const path = categoryCalls(service).pathOf(workspace, id);
  const { status } = await fetch(new URL(path, server.url), {
    method: 'PATCH',
    headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ translations: [{ language: 'en', name }] }),
  });
  return status;
};

/** Silence begins when `unlock` has let everybody take the next step, or lets it begin by itself. */
interface Silence {
  readonly begin: (unlock: () => Promise<void>) => Promise<void>;
  readonly end: () => void;
}

const atOnce = async (unlock: () => Promise<void>) => {
  postgres.silence();
  await unlock();
};

/** Everything arrives, but from the settlement's COMMIT on no answer comes back. */
const atTheCommit = async (unlock: () => Promise<void>) => {
  let settling = 0;
  const silent = new Promise<void>((resolve) => {
    postgres.onSent = (bytes, connection) => {
      if (bytes.includes('ledger_entries')) settling = connection;
      if (connection !== settling || !bytes.includes('commit')) return;
      postgres.onSent = () => undefined;
      postgres.silence('answers');
      resolve();
    };
  });
  await unlock();
  await silent;
};

it.each<[string, Silence]>([
  ['and then passes on what it kept back', { begin: atOnce, end: () => postgres.speak() }],
  [
    'and none of its connections is ever heard of again',
    { begin: atOnce, end: () => postgres.speak({ lost: true }) },
  ],
  [
    'and comes back elsewhere with every connection reset',
    { begin: atOnce, end: () => postgres.failOver(elsewhere) },
  ],
  [
    'after it has taken a COMMIT, and comes back elsewhere without a word to the old connections',
    { begin: atTheCommit, end: () => postgres.speak({ lost: true, target: elsewhere }) },
  ],
])(
  'Postgres falls silent in the middle of a claim, an attempt, a settlement and a request %s: all go on, once',
  async (_title, silence) => {
    const calls = translating(service);
    const category = await categoryCalls(service).category(workspace, { en: 'Before' });
    await register(service, workspace, receiver.url);
    const answered = Promise.withResolvers<number>();
    receiver.answer = () => answered.promise;
    const translated = Promise.withResolvers<void>();
    engine.behave = () => translated.promise;

    const { job, article } = await calls.translate(workspace);
    const [attempted] = await eventually(
      async () => receiver.received,
      (received) => received.length === 1,
    );
    const first = attempted?.headers['x-service-delivery'] as DeliveryId;
    await eventually(
      () => calls.readJob(workspace, job.id),
      ({ status }) => status === 'TRANSLATING',
    );

    const unlocked = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = service.db.transaction().execute(async (tx) => {
      // Claims ask whether their burst is there; whoever stores deliveries does not.
      await sql`LOCK TABLE webhook_bursts IN EXCLUSIVE MODE`.execute(tx);
      const target = article.id as ArticleId;
      await tx.selectFrom('articles').select('id').where('id', '=', target).forUpdate().execute();
      const topic = category.id as CategoryId;
      await tx.selectFrom('categories').select('id').where('id', '=', topic).forUpdate().execute();
      locked.resolve();
      await unlocked.promise;
    });
    await locked.promise;
    const [second = first] = await emit(service, workspace);
    translated.resolve();
    await eventually(lockWaiters, (count) => count >= 2);
    const renaming = rename(category.id, 'First');
    await eventually(lockWaiters, (count) => count >= 3);

    await silence.begin(async () => {
      unlocked.resolve();
      await holding;
    });
    answered.resolve(204);
    await sleep(SILENCE_MS);
    silence.end();
    const healedBy = performance.now() + HEALED_MS;
    const left = () => Math.max(1, healedBy - performance.now());

    const renamed = eventually(
      () => rename(category.id, 'Second'),
      (status) => status === 200,
      left(),
    );
    const delivered = [first, second].map((id) =>
      untilDelivery(service, id, (row) => row.status === 'succeeded', left()),
    );
    const settled = eventually(
      () => calls.readJob(workspace, job.id),
      ({ status }) => status === 'COMPLETED',
      left(),
    );
    expect((await Promise.all(delivered)).map(({ attempts }) => attempts)).toEqual([1, 1]);
    expect((await settled).consumedCredits).toBe(2);
    await renamed;
    expect([200, 503]).toContain(await renaming);

    expect(receiver.received.map(({ headers }) => headers['x-service-delivery'])).toEqual([first, second]);
    expect(await calls.readWallet(workspace)).toEqual({ balance: 998, reserved: 0, available: 998 });
    const charges = await service.db
      .selectFrom('ledger_entries')
      .select('amount')
      .where('kind', '=', 'settlement')
      .execute();
    expect(charges).toEqual([{ amount: -2 }]);
    const [read] = await categoryCalls(service).list(workspace);
    expect(read.translations).toMatchObject([{ name: 'Second' }]);
  },
  120_000,
);

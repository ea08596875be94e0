import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it, type TestContext } from 'vitest';
import type { ArticleId, CategoryId, DeliveryId } from '../../src/ids.ts';
import { startServer } from '../../src/processes/server.ts';
import { categoryCalls } from '../categories/support.ts';
import { emit, register, untilDelivery } from '../support/events.ts';
import { startReceiver } from '../support/receiver.ts';
import { logger, startTestService } from '../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { createStandIn, translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

/** What everybody may take after Postgres is back. */
const HEALED_MS = 30_000;
const SILENCE_MS = 3_000;

/** Server and worker of one test alone, which runs beside others, whose way to Postgres can be cut and led elsewhere. */
async function serveOne(onEnd: TestContext['onTestFinished']) {
  // Less than as deployed: how long a statement may take is how long a silent connection is waited for.
  const service = await startTestService({ DATABASE_STATEMENT_TIMEOUT_SECONDS: '10' });
  const url = new URL(service.config.DATABASE_URL);
  const home = { host: url.hostname, port: Number(url.port) };
  const postgres = await startTcpProxy(home);
  onEnd(() => postgres.close());
  const moved = await startTcpProxy(home);
  onEnd(() => moved.close());
  const receiver = await startReceiver();
  onEnd(() => receiver.close());
  onEnd(() => service.stop());
  url.host = postgres.address;
  const server = await startServer({ ...service.config, DATABASE_URL: url.href }, logger);
  onEnd(() => server.stop());
  const engine = createStandIn();
  const workspace = await service.workspace(1000);
  await service.startWorker({ provider: engine }, { DATABASE_URL: url.href });
  return {
    ...{ service, server, postgres, receiver, engine, workspace },
    elsewhere: { host: '127.0.0.1', port: Number(moved.address.split(':')[1]) },
    /** Sessions that wait for a lock. */
    async lockWaiters(): Promise<number> {
      const { rows } = await sql<{ count: number }>`
        SELECT count(*)::integer AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(service.db);
      return rows[0]?.count ?? 0;
    },
    async rename(id: string, name: string): Promise<number> {
      const path = categoryCalls(service).pathOf(workspace, id);
      const { status } = await fetch(new URL(path, server.url), {
        method: 'PATCH',
        headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ translations: [{ language: 'en', name }] }),
      });
      return status;
    },
  };
}

/** Silence begins when `unlock` has let everybody take the next step, or lets it begin by itself. */
interface Silence {
  readonly begin: (postgres: TcpProxy, unlock: () => Promise<void>) => Promise<void>;
  readonly end: (postgres: TcpProxy, elsewhere: { host: string; port: number }) => void;
}

const atOnce: Silence['begin'] = async (postgres, unlock) => {
  postgres.silence();
  await unlock();
};

/** Everything arrives, but from the settlement's COMMIT on no answer comes back. */
const atTheCommit: Silence['begin'] = async (postgres, unlock) => {
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

it.concurrent.for<[string, Silence]>([
  ['and then passes on what it kept back', { begin: atOnce, end: (postgres) => postgres.speak() }],
  [
    'and none of its connections is ever heard of again',
    { begin: atOnce, end: (postgres) => postgres.speak({ lost: true }) },
  ],
  [
    'and comes back elsewhere with every connection reset',
    { begin: atOnce, end: (postgres, elsewhere) => postgres.failOver(elsewhere) },
  ],
  [
    'after it has taken a COMMIT, and comes back elsewhere without a word to the old connections',
    { begin: atTheCommit, end: (postgres, target) => postgres.speak({ lost: true, target }) },
  ],
])(
  'Postgres falls silent in the middle of a claim, an attempt, a settlement and a request %s: all go on, once',
  async ([, silence], { onTestFinished }) => {
    const { service, postgres, receiver, engine, workspace, elsewhere, lockWaiters, rename } =
      await serveOne(onTestFinished);
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
    await eventually(lockWaiters, (count) => count >= 2, 60_000);
    const renaming = rename(category.id, 'First');
    await eventually(lockWaiters, (count) => count >= 3, 60_000);

    await silence.begin(postgres, async () => {
      unlocked.resolve();
      await holding;
    });
    answered.resolve(204);
    await sleep(SILENCE_MS);
    silence.end(postgres, elsewhere);
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
);

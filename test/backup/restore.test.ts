import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { migrate } from '../../soak/support/engines.ts';
import { createDatabase, type Database } from '../../src/db/database.ts';
import type { DeliveryId } from '../../src/ids.ts';
import { stopPostgres } from '../../src/local/postgres.ts';
import { findTemporalCli } from '../../src/local/temporal-cli.ts';
import { startTemporal, stopTemporal } from '../../src/local/temporal-server.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { hastenRetries } from '../support/hasten.ts';
import { memoryFolder } from '../support/memory-folder.ts';
import { connectOperator, reconcileNow } from '../support/temporal.ts';
import { eventually } from '../support/wait.ts';
import { baseBackup, startCluster } from './support/base-backup.ts';
import { type Deployment, deploy, serve } from './support/deployment.ts';
import { dump } from './support/dump.ts';
import { keepEmitting, type Life, live } from './support/life.ts';
import type { Backup } from './support/method.ts';
import { type Model, startModel } from './support/model.ts';
import {
  chargedRuns,
  countUntried,
  type Delivery,
  isFree,
  nothingOpen,
  openWork,
  readDeliveries,
  readDelivery,
  wrongWallets,
} from './support/state.ts';

/** The folder of a pg_dump as new as the server; without it only the base backup is tried. */
const { PG_TOOLS } = process.env;
const methods = PG_TOOLS === undefined ? [baseBackup] : [baseBackup, dump(PG_TOOLS)];
/** All that was open is to be taken up or ended within this time. */
const TAKEN_UP_MS = 120_000;
/** Between two rounds, which are four runs each. */
const ROUND_MS = 3_000;

describe.each(methods)('$name', ({ take }) => {
  let folder: string;
  let model: Model;
  let env: Record<string, string>;
  let life: Life;
  let backup: Backup;
  let lostArticle: string | undefined;
  /** Cursors of a client that pulls events: of before the backup, and of what came after it. */
  let cursors: { readonly kept: string; readonly lost: string };
  /** Of the deployment that is lost. */
  let prefix: string;
  const cleanups: (() => unknown)[] = [];
  const onEnd = (cleanup: () => unknown) => cleanups.push(cleanup);

  beforeAll(async () => {
    folder = mkdtempSync(join(realpathSync(memoryFolder()), 'wcs-backup-'));
    onEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    model = await startModel();
    onEnd(model.close);
    env = {
      TRANSLATION_PROVIDER: 'openai-compatible',
      AI_BASE_URL: model.url,
      AI_MODEL: 'stand-in',
      RECONCILE_AFTER_SECONDS: '1',
      DATA_DIR: folder,
    };
    const source = await startCluster(join(folder, 'source'));
    onEnd(() => stopPostgres(source));
    await migrate(source.databaseUrl);
    const { databaseUrl } = source;
    const before = await deploy({ databaseUrl, temporalAddress: inject('temporalAddress'), env });
    onEnd(before.kill);
    prefix = before.env.TEMPORAL_TASK_QUEUE_PREFIX ?? '';
    life = await live(before, model);
    for (const { receiver } of life.subscribers) onEnd(receiver.close);

    const kept = await latestCursor(before);
    const load = keepEmitting(before, life.prompt);
    backup = await take(source, join(folder, 'backup'));
    await load.stop();
    [lostArticle] = (await before.emit(life.prompt)).articleIds;
    // What happens after the backup is forgotten: everything gets done once more.
    everybodyAnswers();
    await before.startWorker();
    await eventually(
      () => openWork(before.db),
      (work) => work?.jobs === 0,
    );
    cursors = { kept, lost: await latestCursor(before) };
    await before.kill();
    await stopPostgres(source);
  }, 180_000);
  afterAll(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  function everybodyAnswers(): void {
    for (const { receiver } of life.subscribers) receiver.answer = () => 204;
    life.failing.receiver.answer = ({ headers }) =>
      headers['x-service-delivery'] === life.retried.last ? 503 : 204;
    model.translations = Number.POSITIVE_INFINITY;
  }

  const pull = async (deployment: Pick<Deployment, 'call'>, query: string) =>
    deployment.call(life.prompt.key, 'GET', `/api/workspaces/${life.prompt.id}/events?${query}`);
  const latestCursor = async (deployment: Deployment): Promise<string> =>
    (await pull(deployment, 'after=latest')).body.cursor;

  /** The backup in a server of its own, which is as old as backups are. */
  async function restore(name: string): Promise<{ db: Database; databaseUrl: string }> {
    const { databaseUrl, ...engine } = await backup.restore(join(folder, name));
    onEnd(() => stopPostgres({ databaseUrl, ...engine }));
    const db = createDatabase({ connectionString: databaseUrl });
    onEnd(() => db.destroy());
    const { twice, last, later } = life.retried;
    await sql`UPDATE webhook_open SET
        attempts = CASE id WHEN ${last} THEN 5 ELSE attempts END, begun = CASE id WHEN ${last} THEN 5 ELSE begun END,
        due_at = now() + CASE id WHEN ${later} THEN interval '1 hour' ELSE interval '-5 seconds' END
      WHERE id IN (${twice}, ${last}, ${later})`.execute(db);
    await sql`UPDATE webhook_bursts SET started_at = started_at - interval '2 minutes'`.execute(db);
    await sql`UPDATE ai_operations SET created_at = created_at - interval '2 minutes'`.execute(db);
    for (const { receiver } of life.subscribers) receiver.received.length = 0;
    model.asked.length = 0;
    return { db, databaseUrl };
  }

  /** A server and a worker on what was restored, beside this Temporal server. */
  async function resume(databaseUrl: string, temporalAddress: string) {
    const resumed = await serve({
      databaseUrl,
      temporalAddress,
      env: { ...env, TEMPORAL_TASK_QUEUE_PREFIX: prefix },
    });
    onEnd(resumed.stop);
    return resumed;
  }

  /**
   * Waits until nothing is open, with an operator who lets `reconcile` look now rather than at its next minute, and
   * deliveries be tried again now rather than half a minute later.
   */
  async function untilTakenUp(db: Database, temporalAddress: string): Promise<void> {
    const operator = await connectOperator(temporalAddress);
    await eventually(
      async () => {
        await reconcileNow(operator.client, prefix).catch(() => undefined);
        await hastenRetries(db, operator);
        await sleep(ROUND_MS);
        return openWork(db);
      },
      nothingOpen,
      TAKEN_UP_MS,
    );
    await operator.close();
  }

  /** How often each delivery arrived, with a signature that is right. */
  function arrivals(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { receiver, secret } of life.subscribers) {
      for (const { raw, headers } of receiver.received) {
        const id = verifyWebhook(raw, headers, secret).deliveryId ?? '';
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
    }
    return counts;
  }

  it('beside an empty Temporal: every pending delivery and open job is taken up, every other hold released', async () => {
    const { db, databaseUrl } = await restore('first');
    const saved = await readDeliveries(db);
    expectEveryState(saved, life);
    expect(await openWork(db)).toMatchObject({ jobs: 2, operations: 1, holds: 4 });
    const finished = await db
      .selectFrom('translation_segments')
      .select('source_text')
      .where('job_id', '=', life.jobs.midWork)
      .where('target_text', 'is not', null)
      .execute();
    expect(finished.length).toBeGreaterThan(10);
    const { address } = await startEmptyTemporal(join(folder, 'temporal'), onEnd);
    const after = await resume(databaseUrl, address);
    await untilTakenUp(db, address);

    // Jobs: each is done and charged once, and what was translated before is not asked for again.
    for (const id of Object.values(life.jobs)) {
      const { body } = await after.call(life.prompt.key, 'GET', `/api/jobs/${id}`);
      expect(body.job).toMatchObject({ status: 'COMPLETED', progress: 100 });
      expect(body.job.consumedCredits).toBe(body.job.reservedCredits);
    }
    const before = new Set(finished.map(({ source_text }) => source_text));
    expect(model.asked.length).toBeGreaterThan(10);
    expect(model.asked.filter((text) => before.has(text))).toEqual([]);
    expect(await chargedRuns(db)).toEqual(Object.values(life.jobs).sort());
    expect(await wrongWallets(db)).toEqual([]);
    expect(await db.selectFrom('ai_operations').select('status').execute()).toEqual([{ status: 'failed' }]);

    // Deliveries: what was open arrives, numbered on; what had ended stays as it was; what came later is lost.
    const ends = new Map((await readDeliveries(db)).map((row) => [row.id, row]));
    const arrived = arrivals();
    const { twice, last, later } = life.retried;
    for (const row of saved) {
      if (row.ended_at !== null) {
        expect(ends.get(row.id)).toEqual(row);
        expect(arrived.get(row.id)).toBeUndefined();
      } else if (row.id !== later && row.id !== last) {
        // An attempt that had begun without an outcome is made again under its number.
        expect(ends.get(row.id)).toMatchObject({ status: 'succeeded', attempts: row.attempts + 1 });
        expect(arrived.get(row.id)).toBe(1);
      }
    }
    expect(ends.get(twice)).toMatchObject({ attempts: 3 });
    expect(ends.get(last)).toMatchObject({ status: 'failed', attempts: 6, response_status: 503 });
    expect(arrived.get(last)).toBe(1);
    const articles = life.prompt.receiver.received.map(({ body }) => body.data.articleId);
    expect(articles).not.toContain(lostArticle);

    // contract.md W87: the log goes on, without a gap; what the backup does not have is lost to clients, too.
    const { count } = await db
      .selectFrom('events')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('workspace_id', '=', life.prompt.id)
      .executeTakeFirstOrThrow();
    const whole = await eventually(
      () => pull(after, 'limit=500'),
      ({ body }) => body.events.length >= count,
    );
    expect(new Set(whole.body.events.map(({ id }: { id: string }) => id)).size).toBe(count);
    expect(await pull(after, `after=${cursors.kept}`)).toMatchObject({ status: 200 });
    const lost = await pull(after, `after=${cursors.lost}`);
    expect([lost.status, lost.body.details.reason]).toEqual([410, 'cursor_lost']);
    const { articleIds } = await after.emit(life.prompt);
    const next = await pull(after, `after=${lost.body.details.latest}&wait=20`);
    expect(next.body.events.map(({ articleId }: { articleId: string }) => articleId)).toEqual(articleIds);
    expect((await pull(after, `after=${cursors.lost}`)).status).toBe(410);

    // A wait that is not over is not cut short; once it is over, the attempt follows.
    expect(ends.get(later)).toMatchObject({ status: 'failed', attempts: 1, ended_at: null });
    expect(arrived.get(later)).toBeUndefined();
    await sql`UPDATE webhook_open SET due_at = now() - interval '2 seconds' WHERE id = ${later}`.execute(db);
    await untilTakenUp(db, address);
    expect(await readDelivery(db, later)).toMatchObject({ status: 'succeeded', attempts: 2 });
    await after.stop();
  }, 180_000);

  it('beside the Temporal that has gone on since: nothing stays open and no credit held', async () => {
    const { db, databaseUrl } = await restore('second');
    const after = await resume(databaseUrl, inject('temporalAddress'));
    await eventually(
      () => countUntried(db),
      (count) => count === 0,
    );
    await untilTakenUp(db, inject('temporalAddress'));
    expect(await wrongWallets(db)).toEqual([]);
    expect(await chargedRuns(db)).toEqual([life.jobs.completed]);
    for (const id of [life.jobs.midWork, life.jobs.queued]) {
      const { body } = await after.call(life.prompt.key, 'GET', `/api/jobs/${id}`);
      expect(body.job).toMatchObject({ status: 'FAILED', consumedCredits: 0 });
      const article = await after.call(life.prompt.key, 'GET', `/api/articles/${body.job.articleId}`);
      expect(article.body.article).toMatchObject({ status: 'DRAFT', wordCount: 0 });
    }
    await after.stop();
  }, 180_000);
});

/** A Temporal server without any data. */
async function startEmptyTemporal(
  dataDir: string,
  onEnd: (stop: () => unknown) => void,
): Promise<{ address: string }> {
  const silently = () => undefined;
  const temporal = await startTemporal({
    cli: await findTemporalCli({ env: process.env, onProgress: silently }),
    ...{ dataDir, ui: false, durable: false, detached: false },
    onSpawn: silently,
    onProgress: silently,
  });
  onEnd(() => stopTemporal(temporal));
  return temporal;
}

/** The backup holds deliveries in every state there is. */
function expectEveryState(saved: readonly Delivery[], { retried, gone }: Life): void {
  const state = (id: DeliveryId) => saved.find((row) => row.id === id);
  const waiting = { status: 'failed', ended_at: null, in_run: true };
  expect(state(retried.twice)).toMatchObject({ ...waiting, attempts: 2 });
  expect(state(retried.last)).toMatchObject({ ...waiting, attempts: 5 });
  expect(state(retried.later)).toMatchObject({ ...waiting, attempts: 1 });
  const pending = saved.filter(({ status }) => status === 'pending');
  expect(pending.filter(isFree).length).toBeGreaterThan(4);
  const begun = pending.filter((row) => row.begun > row.attempts);
  expect(begun.filter(({ in_run }) => in_run).length).toBeGreaterThan(0);
  expect(begun.filter(({ burst_id }) => burst_id !== null).length).toBeGreaterThan(0);
  expect(saved.filter(({ status }) => status === 'succeeded').length).toBeGreaterThan(1);
  expect(saved.find(({ workspace_id }) => workspace_id === gone.id)).toMatchObject({
    status: 'failed',
    attempts: 1,
    ended_at: expect.any(Date),
  });
}

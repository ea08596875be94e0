import { beforeAll, beforeEach, expect, it } from 'vitest';
import { inTransaction } from '../../src/db/transaction.ts';
import type { ProjectId } from '../../src/ids.ts';
import { askOperation } from '../../src/suggestions/ask.ts';
import { reserveOperation, settleOperation } from '../../src/suggestions/operations.ts';
import { ModelNotReached } from '../../src/suggestions/provider.ts';
import { categoryCalls } from '../categories/support.ts';
import { createArticle } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { untilWaiting } from '../translations/support/locks.ts';
import { createStandIn, suggesting } from './support.ts';

const service = useTestService();

let calls: ReturnType<typeof suggesting>;
const model = createStandIn();

beforeAll(async () => {
  calls = suggesting(service);
  await service.startWorker({ suggestions: model });
});
beforeEach(() => model.reset());

/** A workspace with an article that a category fits. */
async function prepare(credits: number): Promise<{ workspace: TestWorkspace; articleId: string }> {
  const workspace = await service.workspace(credits);
  const projectId: ProjectId = await service.project(workspace);
  await categoryCalls(service).category(workspace, { en: 'Garden' });
  return { workspace, articleId: (await createArticle(service.db, workspace, projectId)).id };
}

/** An operation that no run has begun. */
const reserve = (workspace: TestWorkspace, articleId: string) =>
  inTransaction(service.db, (tx) =>
    reserveOperation(tx, workspace.context, {
      kind: 'article_categories',
      targetId: articleId,
      credits: 1,
      audit: { action: 'categories.suggested', targetType: 'article' },
    }),
  );

const fifty = (work: () => Promise<{ status: number }>): Promise<number[]> =>
  Promise.all(Array.from({ length: 50 }, async () => (await work()).status));

const count = (statuses: readonly number[], status: number): number =>
  statuses.filter((each) => each === status).length;

it('of fifty paid requests at once on a wallet for ten, ten are held and charged, and available is never negative', async () => {
  const { workspace, articleId } = await prepare(10);
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reply = model.reply;
  model.reply = async (request) => {
    await gate;
    return reply(request);
  };
  const answers = fifty(() => calls.forArticle(workspace, articleId));
  let watching = true;
  const seen: { balance: number; reserved: number }[] = [];
  const watch = (async () => {
    while (watching) {
      const wallet = await calls.wallet(workspace);
      seen.push(wallet);
      if (wallet.reserved === 10) release();
    }
  })();
  const statuses = await answers;
  watching = false;
  await watch;

  expect([count(statuses, 200), count(statuses, 402)]).toEqual([10, 40]);
  expect(model.asked).toHaveLength(10);
  expect(Math.max(...seen.map(({ reserved }) => reserved))).toBe(10);
  expect(seen.every(({ balance, reserved }) => balance >= reserved && reserved >= 0)).toBe(true);
  expect(await calls.wallet(workspace)).toEqual({ balance: 0, reserved: 0 });
  expect(await calls.ledger(workspace)).toBe(0);
  const operations = await calls.operations(workspace);
  expect(operations).toHaveLength(10);
  expect(operations.every(({ status, hold }) => status === 'settled' && hold === 'settled')).toBe(true);
  expect(await calls.used(workspace)).toBe(10);
});

// contract.md S8
it('fifty at once can not overrun the month’s quota, from its first operation on', async () => {
  const { workspace, articleId } = await prepare(1000);
  await calls.setLimit(workspace, 7);
  const statuses = await fifty(() => calls.forArticle(workspace, articleId));
  expect([count(statuses, 200), count(statuses, 429)]).toEqual([7, 43]);
  expect(await calls.used(workspace)).toBe(7);
  expect(await calls.wallet(workspace)).toEqual({ balance: 993, reserved: 0 });
  expect(await calls.operations(workspace)).toHaveLength(7);
});

it('the quota starts again with a new month, and gives back to the month that counted', async () => {
  const { workspace, articleId } = await prepare(10);
  await calls.setLimit(workspace, 1);
  expect((await calls.forArticle(workspace, articleId)).status).toBe(200);
  expect((await calls.forArticle(workspace, articleId)).status).toBe(429);
  await service.db
    .updateTable('ai_operation_usage')
    .set({ month: '2020-01' })
    .where('workspace_id', '=', workspace.id)
    .execute();
  expect((await calls.forArticle(workspace, articleId)).status).toBe(200);
});

it('an attempt that stalled and reached no model takes nothing back from the one after it, which is charged', async () => {
  const { workspace, articleId } = await prepare(10);
  const reserved = await reserve(workspace, articleId);
  let fail = (): void => undefined;
  const stalled = new Promise<void>((resolve) => {
    fail = resolve;
  });
  let asked = (): void => undefined;
  const asking = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const never = new AbortController().signal;
  const first = createStandIn();
  first.reply = async () => {
    asked();
    await stalled;
    throw new ModelNotReached('retryable', 'no connection');
  };
  const failing = askOperation({ db: service.db, provider: first }, reserved.id, never).catch(
    (error) => error,
  );
  await asking;
  // The first attempt counts as lost: the next one asks, and is in the middle of it when the first one ends.
  const second = createStandIn();
  const reply = second.reply;
  second.reply = async (request) => {
    fail();
    expect(await failing).toBeInstanceOf(ModelNotReached);
    return reply(request);
  };
  const answer = await askOperation({ db: service.db, provider: second }, reserved.id, never);
  expect(answer).toMatchObject({ kind: 'answered' });
  expect(await settleOperation(service.db, reserved.id)).toBe(true);
  expect(await calls.wallet(workspace)).toEqual({ balance: 9, reserved: 0 });
  expect(await calls.used(workspace)).toBe(1);
});

it('no model is asked for an operation that is being ended at that moment', async () => {
  const { workspace, articleId } = await prepare(10);
  const reserved = await reserve(workspace, articleId);
  const provider = createStandIn();
  const asking = await service.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('ai_operations')
      .set((eb) => ({ status: 'failed', ended_at: eb.fn('now') }))
      .where('id', '=', reserved.id)
      .execute();
    const begun = askOperation({ db: service.db, provider }, reserved.id, AbortSignal.timeout(30_000));
    await untilWaiting(service.db, 1);
    // In an array: the transaction does not wait for it.
    return [begun];
  });
  expect(await asking[0]).toEqual({ kind: 'ended' });
  expect(provider.asked).toEqual([]);
});

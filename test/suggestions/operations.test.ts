import { beforeEach, expect, it } from 'vitest';
import { releaseHold, reserveCredits } from '../../src/credits/holds.ts';
import type { Suggestions } from '../../src/db/suggestions.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { type AiOperationId, newId, type WorkspaceId } from '../../src/ids.ts';
import { askOperation } from '../../src/suggestions/ask.ts';
import {
  findOpenOperation,
  markRequested,
  releaseOperation,
  reserveOperation,
  settleOperation,
  storeResult,
  unmarkRequested,
} from '../../src/suggestions/operations.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { createStandIn, suggesting } from './support.ts';

const service = useTestService();

let calls: ReturnType<typeof suggesting>;
let workspace: TestWorkspace;
let articleId: string;

const names = (count: number): Suggestions => ({
  kind: 'category_names',
  names: Array.from({ length: count }, (_, index) => ({ language: `x-${index}`, name: `Name ${index}` })),
});

const reserve = (credits: number): Promise<AiOperationId> =>
  inTransaction(service.db, async (tx) => {
    const { id } = await reserveOperation(tx, workspace.context, {
      kind: 'category_names',
      targetId: articleId,
      languages: ['de', 'es'],
      credits,
      audit: { action: 'categories.suggested', targetType: 'category' },
    });
    return id;
  });
const settle = (id: AiOperationId) => settleOperation(service.db, id);
/** As after the answer of a model. */
const answered = async (id: AiOperationId, count = 4): Promise<void> => {
  expect(await markRequested(service.db, id)).not.toBeNull();
  expect(await storeResult(service.db, id, names(count))).toBe(true);
};
const release = (id: AiOperationId) =>
  releaseOperation(service.db, id, 'failed', (what, error) => {
    throw new Error(what, { cause: error });
  });
const rowOf = (id: AiOperationId) =>
  service.db.selectFrom('ai_operations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

beforeEach(async () => {
  calls = suggesting(service);
  workspace = await service.workspace(10);
  articleId = newId();
});

it.each([
  ['settled', settle, { balance: 8, reserved: 4 }, 2],
  ['released', release, { balance: 10, reserved: 4 }, 2],
] as const)(
  'an operation that was %s is ended, asked for and answered by nothing a second time',
  async (_, end, wallet, used) => {
    const id = await reserve(2);
    // Credits and a count of another operation, which a second end would take.
    await reserve(4);
    await answered(id);
    expect(await end(id)).toBe(true);
    const ended = await rowOf(id);
    for (const again of [settle, release]) expect(await again(id)).toBe(false);
    expect(await findOpenOperation(service.db, id)).toBeNull();
    expect(await markRequested(service.db, id)).toBeNull();
    expect(await storeResult(service.db, id, names(1))).toBe(false);
    expect(await rowOf(id)).toEqual(ended);
    expect(await calls.wallet(workspace)).toEqual(wallet);
    expect(await calls.used(workspace)).toBe(used);
  },
);

it('an operation that is released gives its count back to its own month and workspace alone', async () => {
  const usage = (workspaceId: WorkspaceId) =>
    service.db
      .selectFrom('ai_operation_usage')
      .select(['month', 'used'])
      .where('workspace_id', '=', workspaceId)
      .orderBy('month')
      .execute();
  const neighbour = await service.workspace(10);
  for (const [id, month] of [
    [workspace.id, '2020-01'],
    [neighbour.id, '2020-01'],
  ] as const) {
    await service.db.insertInto('ai_operation_usage').values({ workspace_id: id, month, used: 5 }).execute();
  }
  const id = await reserve(2);
  const { quota_month: month } = await rowOf(id);
  await service.db
    .insertInto('ai_operation_usage')
    .values({ workspace_id: neighbour.id, month, used: 5 })
    .execute();
  await release(id);
  expect(await usage(workspace.id)).toEqual([
    { month: '2020-01', used: 5 },
    { month, used: 0 },
  ]);
  expect(await usage(neighbour.id)).toEqual([
    { month: '2020-01', used: 5 },
    { month, used: 5 },
  ]);
});

it('an operation whose hold has ended is asked for by nobody, and settling it is an error that changes nothing', async () => {
  const id = await reserve(2);
  await answered(id);
  await inTransaction(service.db, (tx) => releaseHold(tx, id));
  expect(await findOpenOperation(service.db, id)).toBeNull();
  await expect(settle(id)).rejects.toThrow('open without a hold');
  expect(await rowOf(id)).toMatchObject({ status: 'open' });
  const model = createStandIn();
  const asked = await askOperation({ db: service.db, provider: model }, id, AbortSignal.timeout(10_000));
  expect(asked).toEqual({ kind: 'ended' });
  expect(model.asked).toEqual([]);
});

it('an operation is charged what came back, and never more than it holds', async () => {
  const charged = async (held: number, came: number) => {
    const id = await reserve(held);
    await answered(id, came);
    expect(await settle(id)).toBe(true);
    return (await rowOf(id)).credits;
  };
  expect([await charged(3, 2), await charged(1, 6)]).toEqual([1, 1]);
  expect(await calls.wallet(workspace)).toEqual({ balance: 8, reserved: 0 });
});

it('a mark goes with the attempt that set it, unless a later one, an answer or an end has come', async () => {
  const id = await reserve(2);
  const first = await markRequested(service.db, id);
  const second = await markRequested(service.db, id);
  if (first === null || second === null) throw new Error('the operation is open');
  expect([first.again, second.again]).toEqual([false, true]);
  const isMarked = async () => (await rowOf(id)).asked_at !== null;
  await unmarkRequested(service.db, id, first.mark);
  expect(await isMarked()).toBe(true);
  await unmarkRequested(service.db, id, second.mark);
  expect(await isMarked()).toBe(false);
  const third = await markRequested(service.db, id);
  if (third === null) throw new Error('the operation is open');
  await storeResult(service.db, id, names(2));
  await unmarkRequested(service.db, id, third.mark);
  expect(await isMarked()).toBe(true);
  await service.db.updateTable('ai_operations').set({ result: null }).where('id', '=', id).execute();
  await release(id);
  await unmarkRequested(service.db, id, third.mark);
  expect(await isMarked()).toBe(true);
});

it('two attempts that mark an operation at one moment know which came first', async () => {
  const id = await reserve(2);
  const marks = await Promise.all(Array.from({ length: 8 }, () => markRequested(service.db, id)));
  expect(marks.filter((mark) => mark?.again === false)).toHaveLength(1);
  expect(new Set(marks.map((mark) => mark?.mark.getTime())).size).toBe(8);
});

it('neither a wallet nor a month that is used up reserves anything', async () => {
  await inTransaction(service.db, (tx) => reserveCredits(tx, workspace.id, 9));
  await expect(reserve(2)).rejects.toMatchObject({ code: 'INSUFFICIENT_CREDITS' });
  await calls.setLimit(workspace, 0);
  await expect(reserve(1)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  expect(await calls.operations(workspace)).toEqual([]);
});

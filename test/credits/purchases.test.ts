import { beforeEach, expect, it } from 'vitest';
import type { LedgerEntry } from '../../src/credits/schemas.ts';
import { grantCredits, purchaseCredits } from '../../src/credits/wallet.ts';
import { runCli } from '../cli/run.ts';
import { listenToAll } from '../support/events.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';

const service = useTestService();

let workspace: TestWorkspace;

beforeEach(async () => {
  workspace = await service.workspace(0);
});

const ledger = async (query = '') =>
  (await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/ledger${query}`)).body;
const wallet = async () =>
  (await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/wallet`)).body.wallet;
const events = async () =>
  (
    await service.db
      .selectFrom('events')
      .select('body')
      .where('workspace_id', '=', workspace.id)
      .orderBy('id')
      .execute()
  ).map(({ body }) => JSON.parse(body.toString()));

// contract.md E8
it('a payment event counts once, however it arrives and how often, and emits one event', async () => {
  await listenToAll(service.db, workspace.id);
  const paymentEventId = 'evt_1';
  await Promise.all([
    ...Array.from({ length: 5 }, () => purchaseCredits(workspace.context, { amount: 500, paymentEventId })),
  ]);
  await grantCredits(workspace.context, { amount: 700, paymentEventId });
  expect(await wallet()).toEqual({ balance: 500, reserved: 0, available: 500 });
  expect(await events()).toEqual([
    { event: 'credits.purchased', data: { creditAmount: 500, paymentEventId: 'evt_1' } },
  ]);
  await grantCredits(workspace.context, { amount: 20, paymentEventId: 'evt_2' });
  expect((await events())[1]).toEqual({
    event: 'credits.granted',
    data: { creditAmount: 20, paymentEventId: 'evt_2' },
  });
});

it('the ledger is read newest first, page by page, and sums up to the balance', async () => {
  for (let index = 1; index <= 5; index += 1) {
    await (index % 2 === 0 ? grantCredits : purchaseCredits)(workspace.context, {
      amount: index,
      paymentEventId: `evt_${index}`,
    });
  }
  const entries: LedgerEntry[] = [];
  let cursor: string | null = '';
  do {
    const page = await ledger(`?limit=2${cursor && `&cursor=${cursor}`}`);
    entries.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== null);
  expect(entries.map(({ amount }) => amount)).toEqual([5, 4, 3, 2, 1]);
  expect(entries[0]).toEqual({
    // An id that says nothing of how many entries other workspaces have.
    id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    kind: 'purchase',
    amount: 5,
    paymentEventId: 'evt_5',
    purpose: null,
    runId: null,
    createdAt: expect.any(String),
  });
  expect((await wallet()).balance).toBe(15);
  const stranger = await service.workspace(7);
  const foreign = (await service.call(stranger.key, 'GET', `/api/workspaces/${stranger.id}/ledger`)).body;
  const cursors = ['ledger 1', 'ledger 1 2', `ledger ${foreign.entries[0].id}`].map((text) =>
    Buffer.from(text).toString('base64url'),
  );
  for (const bad of ['x', 'bGVkZ2VyIC0x', ...cursors]) {
    expect((await ledger(`?cursor=${bad}`)).errors[0].pointer).toBe('query/cursor');
  }
});

it('the command line adds purchased credits and deletes a workspace, once nothing runs in it', async () => {
  const admin = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli('admin', ['--json', ...args], {
      DATABASE_URL: service.env.DATABASE_URL ?? '',
    });
    return { code, answer: stdout === '' ? null : JSON.parse(stdout), stderr };
  };
  const purchase = ['credits', 'purchase', '--workspace', workspace.id, '--amount', '300'];
  const first = await admin(...purchase, '--payment-event-id', 'evt_cli');
  expect(first).toMatchObject({ code: 0, answer: { balance: 300, reserved: 0, available: 300 } });
  expect((await admin(...purchase, '--payment-event-id', 'evt_cli')).answer).toEqual(first.answer);
  expect((await admin(...purchase.slice(0, -1), '0')).code).toBe(1);

  const remove = ['workspace', 'delete', '--workspace', workspace.id];
  expect(await admin(...remove)).toMatchObject({ code: 0, answer: { ok: true } });
  const again = await admin(...remove);
  expect([again.code, again.answer]).toEqual([1, null]);
  expect(again.stderr).toContain(workspace.id);
});

import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { openHold, releaseHold, reserveCredits, settleHold } from '../../src/credits/holds.ts';
import { countOperation } from '../../src/credits/operations-quota.ts';
import { reserveBytes } from '../../src/credits/storage-quota.ts';
import type { Tx } from '../../src/db/database.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { newId } from '../../src/ids.ts';
import { setLimits } from '../../src/workspaces/set-limits.ts';
import { storedWallet } from '../support/credits.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';

const service = useTestService();

let workspace: TestWorkspace;

beforeEach(async () => {
  workspace = await service.workspace(10);
});

const inTx = <Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> => inTransaction(service.db, work);

/** A hold of so many credits, taken from the wallet. */
const hold = async (amount: number): Promise<string> => {
  const runId = newId();
  await inTx(async (tx) => {
    await openHold(tx, { workspaceId: workspace.id, purpose: 'translation', runId, amount });
    expect(await reserveCredits(tx, workspace.id, amount)).toBe(true);
  });
  return runId;
};
const settle = (runId: string, credits: number) => inTx((tx) => settleHold(tx, runId, credits));
const release = (runId: string) => inTx((tx) => releaseHold(tx, runId));

const wallet = () => storedWallet(service.db, workspace.id);
const charges = async () =>
  (
    await service.db
      .selectFrom('ledger_entries')
      .select('amount')
      .where('workspace_id', '=', workspace.id)
      .where('kind', '=', 'settlement')
      .orderBy('id')
      .execute()
  ).map(({ amount }) => amount);

it.each([
  ['settled for nothing', (run: string) => settle(run, 0), { balance: 10, reserved: 5 }, []],
  ['settled for a part', (run: string) => settle(run, 2), { balance: 8, reserved: 5 }, [-2]],
  ['released', release, { balance: 10, reserved: 5 }, []],
] as const)('a hold that was %s can be ended by nothing a second time', async (_, end, left, charged) => {
  const run = await hold(3);
  // Credits of another run, which a second end would free or charge.
  await hold(5);
  expect(await end(run)).toBe(true);
  for (const again of [() => settle(run, 0), () => settle(run, 3), () => release(run)]) {
    expect(await again()).toBe(false);
    expect(await wallet()).toEqual(left);
    expect(await charges()).toEqual(charged);
  }
});

it('of many that end a hold at one moment, one does', async () => {
  await hold(4);
  for (let round = 0; round < 5; round += 1) {
    const before = await wallet();
    const run = await hold(1);
    const ends = await Promise.all(
      [0, 1, 2, 3].map((each) => (each % 2 === 0 ? settle(run, 1) : release(run))),
    );
    expect(ends.filter(Boolean)).toHaveLength(1);
    const { balance, reserved } = await wallet();
    expect([before.balance, before.balance - 1]).toContain(balance);
    expect(reserved).toBe(4);
  }
  const { balance } = await wallet();
  expect((await charges()).reduce((sum, amount) => sum + amount, 10)).toBe(balance);
});

it('of many that want the last credits, bytes or operations at one moment, as many get them as there are', async () => {
  const granted = async (ask: (tx: Tx) => Promise<boolean>): Promise<number> =>
    (await Promise.all(Array.from({ length: 6 }, () => inTx(ask)))).filter(Boolean).length;
  expect(await granted((tx) => reserveCredits(tx, workspace.id, 4))).toBe(2);
  expect(await wallet()).toEqual({ balance: 10, reserved: 8 });
  await setLimits(workspace.context, { storageBytes: 1_000, aiOperations: 3 });
  expect(await granted((tx) => reserveBytes(tx, workspace.id, 300))).toBe(3);
  expect(await granted((tx) => countOperation(tx, workspace.id, '2026-11'))).toBe(3);
});

it('the database itself refuses a charge above or below a hold, a second hold or charge of a run, and an overdrawn wallet', async () => {
  const runId = await hold(3);
  for (const credits of [4, -1]) await expect(settle(runId, credits)).rejects.toThrow('check constraint');
  const again = { workspaceId: workspace.id, purpose: 'translation', runId, amount: 1 } as const;
  await expect(inTx((tx) => openHold(tx, again))).rejects.toThrow('holds_run_key');
  expect(await settle(runId, 2)).toBe(true);
  const charge = sql`INSERT INTO ledger_entries (workspace_id, kind, amount, hold_id)
    SELECT workspace_id, kind, amount, hold_id FROM ledger_entries WHERE workspace_id = ${workspace.id} AND kind = 'settlement'`;
  await expect(charge.execute(service.db)).rejects.toThrow('ledger_entries_hold_key');
  for (const reserved of [9, -1]) {
    const draw = sql`UPDATE wallets SET reserved = ${reserved} WHERE workspace_id = ${workspace.id}`;
    await expect(draw.execute(service.db)).rejects.toThrow('wallets_reserved_check');
  }
  expect([await wallet(), await charges()]).toEqual([{ balance: 8, reserved: 0 }, [-2]]);
});

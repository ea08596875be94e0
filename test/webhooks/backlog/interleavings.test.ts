import '../../support/fast-check.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inTransaction } from '../../../src/db/transaction.ts';
import { redeliverMissed } from '../../../src/webhooks/backlog/redeliver-missed.ts';
import { HOUR, useBacklogs } from './support.ts';

const backlogs = useBacklogs();

/** What happens next; `place` chooses among the transactions that are open. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('store' as const), count: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'begin' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      place: fc.nat(9),
      how: fc.constantFrom('commit' as const, 'commit' as const, 'rollback' as const),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'number' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'mark' as const }) },
  { weight: 6, arbitrary: fc.constant({ kind: 'refill' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'close' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('deliver' as const), count: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'pass over' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('set' as const), active: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'redeliver' as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const isActive = async (): Promise<boolean> => {
  const { active } = await backlogs.database.it.db
    .selectFrom('webhook_endpoints')
    .select('active')
    .where('id', '=', backlogs.endpoint.it.id)
    .executeTakeFirstOrThrow();
  return active;
};
const redeliver = () =>
  inTransaction(backlogs.database.it.db, (tx) =>
    redeliverMissed(
      tx,
      { workspaceId: backlogs.workspace.it.id, endpointId: backlogs.endpoint.it.id },
      { since: new Date(0) },
      { cursor: undefined, isDry: false },
    ),
  );

/** Runs the steps. @returns whether each event, in the order of events, was stored while the endpoint was active */
async function run(steps: readonly Step[]): Promise<void> {
  const late: ((how?: 'commit' | 'rollback') => Promise<void>)[] = [];
  /** Each event stored while the endpoint was active is to have one delivery. */
  let expected = 0;
  const act: { readonly [Kind in Step['kind']]: (of: Extract<Step, { kind: Kind }>) => Promise<void> } = {
    async store({ count }) {
      if (await isActive()) expected += count;
      await backlogs.store(count);
    },
    async begin() {
      const counts = await isActive();
      const end = await backlogs.storeLate();
      late.push(async (how = 'commit') => {
        if (counts && how === 'commit') expected += 1;
        await end(how);
      });
    },
    async end({ place, how }) {
      const [end] = late.splice(place % Math.max(1, late.length), 1);
      await end?.(how);
    },
    number: () => backlogs.number(),
    async mark() {
      await backlogs.mark();
    },
    async refill() {
      await backlogs.refill();
    },
    async close() {
      await backlogs.close();
    },
    deliver: ({ count }) => backlogs.deliver(count),
    async 'pass over'() {
      // All that was numbered until now is older than nothing.
      await backlogs.refill(0);
    },
    async set({ active }) {
      await backlogs.database.it.db
        .updateTable('webhook_endpoints')
        .set({ active })
        .where('id', '=', backlogs.endpoint.it.id)
        .execute();
    },
    async redeliver() {
      await redeliver();
    },
  };
  for (const each of steps) await (act[each.kind] as (of: Step) => Promise<void>)(each);
  await act.set({ kind: 'set', active: true });
  for (const end of late) await end();
  if ((await backlogs.isBehind()) !== 'no') await backlogs.catchUp();
  await backlogs.number();
  const before = await backlogs.deliveries();
  expect(Math.max(0, ...before)).toBeLessThanOrEqual(1);
  const { count } = await redeliver();
  const after = await backlogs.deliveries();
  expect(Math.max(0, ...after)).toBeLessThanOrEqual(1);
  const total = (counts: readonly number[]) => counts.reduce((sum, each) => sum + each, 0);
  expect([total(before) + count, total(after)]).toEqual([expected, expected]);
}

// contract.md W101 and W102
it('in any order of storing, late commits, marks, refills and ends each event has one delivery, or is missed', async () => {
  await fc.assert(
    fc
      .asyncProperty(fc.array(step, { minLength: 10, maxLength: 45 }), run)
      .beforeEach(() => backlogs.renew()),
    { numRuns: 60 },
  );
}, 240_000);

// contract.md W101
it(
  'counts with more than one transaction open over the whole life of a mark',
  async () => {
    await run([
      { kind: 'store', count: 5 },
      { kind: 'begin' },
      { kind: 'store', count: 4 },
      { kind: 'mark' },
      { kind: 'begin' },
      { kind: 'end', place: 0, how: 'commit' },
      { kind: 'store', count: 5 },
      { kind: 'number' },
      { kind: 'deliver', count: 9 },
      { kind: 'refill' },
      { kind: 'deliver', count: 9 },
      { kind: 'refill' },
      { kind: 'refill' },
      { kind: 'begin' },
      { kind: 'close' },
      { kind: 'end', place: 0, how: 'commit' },
      { kind: 'close' },
    ]);
  },
  HOUR,
);

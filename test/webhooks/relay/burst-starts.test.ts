import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { BurstId } from '../../../src/ids.ts';
import { createBurstStarts } from '../../../src/webhooks/relay/burst-starts.ts';
import type { OpenBurst } from '../../../src/webhooks/relay/bursts.ts';
import { logger } from '../../support/service.ts';

/** Starts on a clock of the test; bursts open and end as it says. */
function watch() {
  const ends = new Map<BurstId, PromiseWithResolvers<void>>();
  const starts = createBurstStarts({
    run: (id) => {
      const end = Promise.withResolvers<void>();
      ends.set(id, end);
      return end.promise;
    },
    logger,
    signal: new AbortController().signal,
    onEnded: () => undefined,
  });
  return { starts, started: () => [...ends.keys()], ends };
}

const openBurst = (id: BurstId, closesAt: number): OpenBurst => ({
  ...{ id, closesAt, awaits: () => undefined, send: () => undefined },
});
const nothing = { some: false, many: false };
const few = { some: true, many: false };
const many = { some: true, many: true };
const none = { open: undefined, isUsed: false };

it('a burst starts at once for many deliveries, and after 100 ms for a few', () => {
  const one = watch();
  one.starts.consider(many, none, 0);
  one.starts.consider(many, none, 10);
  expect(one.started()).toHaveLength(1);
  const other = watch();
  other.starts.consider(few, none, 0);
  expect(other.started()).toEqual([]);
  expect(other.starts.dueAt()).toBe(100);
  other.starts.consider(few, none, 100);
  expect(other.started()).toHaveLength(1);
});

it('while a burst opens, what is left starts another only after half a second', () => {
  const { starts, started } = watch();
  starts.consider(few, none, 0);
  starts.consider(many, none, 100);
  expect(starts.isOpening).toBe(true);
  expect(starts.dueAt()).toBe(600);
  starts.consider(many, none, 599);
  expect(started()).toHaveLength(1);
  starts.consider(few, none, 600);
  expect(started()).toHaveLength(2);
  for (const id of started()) starts.consider(nothing, { open: openBurst(id, 60_000), isUsed: true }, 700);
  expect(starts.isOpening).toBe(false);
});

it('a burst in use has a successor before it closes, and what comes after it has closed starts one without a wait', () => {
  const { starts, started } = watch();
  starts.consider(many, none, 0);
  const [first] = started();
  if (first === undefined) throw new Error('not started');
  const open = openBurst(first, 60_000);
  starts.consider(nothing, { open, isUsed: true }, 57_999);
  starts.consider(nothing, { open, isUsed: false }, 58_500);
  expect(started()).toHaveLength(1);
  starts.consider(nothing, { open, isUsed: true }, 58_500);
  starts.consider(nothing, { open, isUsed: true }, 58_600);
  expect(started()).toHaveLength(2);

  const closed = watch();
  closed.starts.consider(many, none, 0);
  const [only] = closed.started();
  if (only === undefined) throw new Error('not started');
  closed.starts.consider(nothing, { open: openBurst(only, 60_000), isUsed: false }, 59_000);
  // Its last attempts are still under way.
  closed.starts.consider(many, none, 60_010);
  expect(closed.started()).toHaveLength(2);
  closed.starts.consider(many, none, 61_000);
  expect(closed.started()).toHaveLength(2);
});

it('a start that failed is repeated after half a second', async () => {
  const { starts, started, ends } = watch();
  starts.consider(many, none, performance.now());
  for (const end of ends.values()) end.reject(new Error('Temporal is away'));
  await sleep(20);
  starts.consider(many, none, performance.now());
  expect(started()).toHaveLength(1);
  starts.consider(many, none, performance.now() + 500);
  expect(started()).toHaveLength(2);
});

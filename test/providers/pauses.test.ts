import { expect, it } from 'vitest';
import { newId, type WorkspaceId } from '../../src/ids.ts';
import { createPauses, type Pauses } from '../../src/providers/pauses.ts';
import { ProviderError } from '../../src/providers/types.ts';

const [one, other] = [newId<WorkspaceId>(), newId<WorkspaceId>()];

function paused() {
  let now = 0;
  let calls = 0;
  const pauses: Pauses = createPauses(() => now);
  const call = async (outcome: () => Promise<unknown>, workspace = one): Promise<number | 'taken'> => {
    try {
      await pauses.run(workspace, () => {
        calls += 1;
        return outcome();
      });
      return 'taken';
    } catch (error) {
      if (!(error instanceof ProviderError) || !error.limited) throw error;
      return error.retryAfterMs ?? Number.NaN;
    }
  };
  return {
    call,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    /** How many calls were made. */
    made: () => calls,
  };
}
const taken = async () => undefined;
const limit = (retryAfterMs?: number) => async () => {
  throw new ProviderError('retryable', 'too many', {
    limited: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
};

// contract.md J19
it('a pause belongs to the workspace whose call met the limit, and doubles up to a minute until a call is taken', async () => {
  const { call, pass, made } = paused();
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect(await call(limit())).toBe(seconds * 1_000);
    pass(seconds * 1_000 - 1);
    // No call is made, and the other workspace's is.
    expect([await call(taken), await call(taken, other)]).toEqual([1, 'taken']);
    pass(1);
  }
  expect(made()).toBe(16);
  expect([await call(taken), await call(limit())]).toEqual(['taken', 1_000]);
});

// contract.md J19
it('the engine’s own wait is kept, and calls that were under way together begin one pause', async () => {
  const { call, pass } = paused();
  const gate = Promise.withResolvers<void>();
  const wave = [undefined, 500, 5_000].map((wait) => call(() => gate.promise.then(limit(wait))));
  const late = call(() => gate.promise);
  pass(10);
  gate.resolve();
  expect(await Promise.all([...wave, late])).toEqual([1_000, 1_000, 5_000, 'taken']);
  // A call that began before it ends no pause.
  expect(await call(taken)).toBe(5_000);
  pass(5_000);
  expect(await call(limit())).toBe(2_000);
});

it('a series that lies back begins again, and a failure of another kind is none', async () => {
  const { call, pass } = paused();
  await call(limit());
  pass(1_000);
  await call(limit());
  pass(2_000 + 60_001);
  expect(await call(limit())).toBe(1_000);
  const broken = new ProviderError('retryable', 'away', { retryAfterMs: 9 });
  await expect(call(() => Promise.reject(broken), other)).rejects.toBe(broken);
  expect(await call(taken, other)).toBe('taken');
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createProgress } from '../../src/http/progress.ts';

const TICK_MS = 10;
const KIB = 1024;
/** Ticks. */
const LONG_ENOUGH = { body: 60, response: 200 };

/** A transfer that moves so many bytes every few milliseconds. @returns whether it was cut within the time */
async function isCut(
  kind: 'body' | 'response',
  somebodyWaits: boolean,
  bytes: number,
  { counts = true, ms = LONG_ENOUGH[kind] * TICK_MS }: { counts?: boolean; ms?: number } = {},
): Promise<boolean> {
  let cut = false;
  const transfer = createProgress(() => somebodyWaits, TICK_MS).track(kind, () => {
    cut = true;
  });
  transfer.waitsForClient(counts);
  const timer = setInterval(() => transfer.moved(bytes), TICK_MS);
  await sleep(ms);
  clearInterval(timer);
  transfer.end();
  return cut;
}

// contract.md A53
test.each(['body', 'response'] as const)(
  'a %s that hardly moves is cut while somebody waits, and only then',
  async (kind) => {
    const cut = await Promise.all([
      isCut(kind, true, 100),
      isCut(kind, false, 0),
      isCut(kind, true, 4 * KIB),
      // Time in which we did not read or write is not counted.
      isCut(kind, true, 0, { counts: false }),
      // Nor is one judged by less than ten seconds, or a minute.
      isCut(kind, true, 0, { ms: 5 * TICK_MS }),
    ]);
    expect(cut).toEqual([true, false, false, false, false]);
  },
);

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createProgress } from '../../src/http/progress.ts';

const TICK_MS = 10;
const KIB = 1024;

/** A body that moves so many bytes every few milliseconds. @returns whether it was cut within the time */
async function isCut(
  somebodyWaits: boolean,
  bytes: number,
  { counts = true, ms = 60 * TICK_MS }: { counts?: boolean; ms?: number } = {},
): Promise<boolean> {
  let cut = false;
  const transfer = createProgress(() => somebodyWaits, TICK_MS).track('body', () => {
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
test('a body that hardly arrives is cut while somebody waits, and only then', async () => {
  const cut = await Promise.all([
    isCut(true, 100),
    isCut(false, 0),
    isCut(true, 4 * KIB),
    // Time in which we did not read is not counted.
    isCut(true, 0, { counts: false }),
    // Nor is one judged by less than ten seconds.
    isCut(true, 0, { ms: 5 * TICK_MS }),
  ]);
  expect(cut).toEqual([true, false, false, false, false]);
});

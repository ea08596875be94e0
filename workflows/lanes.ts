import { CancellationScope, isCancellation } from '@temporalio/workflow';

/**
 * Does work for each item in order, so many at a time; when one fails the others are cancelled and awaited first.
 * @throws what the first one failed with
 */
export async function inLanes<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  await CancellationScope.cancellable(async () => {
    const scope = CancellationScope.current();
    const lane = async () => {
      try {
        for (const item of left) await work(item);
      } catch (error) {
        scope.cancel();
        throw error;
      }
    };
    const lanes = Array.from({ length: Math.min(atOnce, items.length) }, lane);
    const failed = (await Promise.allSettled(lanes)).filter((each) => each.status === 'rejected');
    // The cancelled lanes only follow the one that failed.
    const cause = failed.find(({ reason }) => !isCancellation(reason)) ?? failed[0];
    if (cause !== undefined) throw cause.reason;
  });
}

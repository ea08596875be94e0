import { setImmediate as endOfTurn } from 'node:timers/promises';

/** Items per batch. */
const MAX_BATCH = 200;

/**
 * Batches calls of `run`: collects them while a batch is under way and runs them as the next one. Cost grows with the
 * size of the load, not the number of calls, and a single call never waits.
 * @param run returns one result per item, in order; when it rejects, each call rejects
 */
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let next: { readonly items: Item[]; readonly results: Promise<readonly Result[]> } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function runAfter(before: Promise<unknown>, items: readonly Item[]): Promise<readonly Result[]> {
    await before;
    // Lets the other calls of this turn of the event loop join.
    await endOfTurn();
    if (next?.items === items) next = undefined;
    return run(items);
  }

  return async (item) => {
    if (next === undefined || next.items.length === MAX_BATCH) {
      const items: Item[] = [];
      const results = runAfter(last, items);
      last = results.catch(() => undefined);
      next = { items, results };
    }
    const { items, results } = next;
    const position = items.push(item) - 1;
    return (await results)[position] as Result;
  };
}

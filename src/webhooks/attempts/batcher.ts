import { setImmediate as endOfTurn } from 'node:timers/promises';

/** Items of one batch. */
const MOST = 200;

/**
 * Makes of `run` a function for one item that does its work together with the calls made at about the same time: it
 * collects calls while a batch is under way and runs them as the next one, so that the work grows with the load in size
 * and not in number, and a single call waits for nobody.
 * @param run returns as many results as it was given items, in their order; when it rejects, each call does
 */
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let next: { readonly items: Item[]; readonly results: Promise<readonly Result[]> } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function runAfter(before: Promise<unknown>, items: readonly Item[]): Promise<readonly Result[]> {
    await before;
    // After the other calls of this turn of the event loop.
    await endOfTurn();
    if (next?.items === items) next = undefined;
    return run(items);
  }

  return async (item) => {
    if (next === undefined || next.items.length === MOST) {
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

/** A function for one item that does its work together with the calls made at about the same time. */
export type Batched<Item, Result> = (item: Item) => Promise<Result>;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects calls while a batch is under way and runs them as the next one, so that the work grows with the load
 * in size and not in number, and a single call waits for nobody.
 * @param run returns as many results as it was given items, in their order; when it rejects, each call does
 * @param limit items of one batch
 */
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  limit = 200,
): Batched<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let running = false;

  async function runAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, limit);
      try {
        const results = await run(batch.map(({ item }) => item));
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running) return;
      running = true;
      // After the other calls of this turn of the event loop.
      setImmediate(runAll);
    });
}

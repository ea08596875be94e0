/** How a pruning job proceeds. */
export interface PruneOptions {
  /** How long ended rows are kept, in milliseconds. */
  readonly retentionMs: number;
  /** Called after every batch; what it throws stops the work there. */
  readonly onProgress?: () => void;
}

/** Who is told how far work over many rows is. */
export interface Watcher {
  /** Called now and then with what has been looked at; what it throws stops the work there. */
  readonly onProgress: (looked: number) => void;
  /** Called for a row that could not be worked on; the others are, all the same. */
  readonly onError: (id: string, error: unknown) => void;
}

/**
 * Works through a table in batches that commit by themselves, until one has no `last`.
 * @param next does the batch after a position; its `last` is where the next one begins
 */
export async function* inBatches<Position, Batch extends { readonly last: NoInfer<Position> | null }>(
  start: NoInfer<Position>,
  next: (after: Position) => Promise<Batch>,
): AsyncGenerator<Batch> {
  for (let after: Position | null = start; ; ) {
    const batch: Batch = await next(after);
    yield batch;
    if (batch.last === null) return;
    after = batch.last;
  }
}

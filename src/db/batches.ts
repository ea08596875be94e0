/** How a pruning job proceeds. */
export interface PruneOptions {
  /** How long ended rows are kept, in milliseconds. */
  readonly retentionMs: number;
  /** Called after every batch; what it throws stops the work there. */
  readonly onProgress?: () => void;
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

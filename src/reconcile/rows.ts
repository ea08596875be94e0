import { inBatches, type Watcher } from '../db/batches.ts';

/** Rows per page. */
export const PAGE = 200;

/** Where a page of rows ordered by time and id ended. */
export interface Position {
  readonly created_at: Date;
  readonly id: string;
}

const START: Position = { created_at: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** Calls `handle` for one row after the other, oldest first, read page by page. */
export async function forEachRow<Row extends Position>(
  { onProgress, onError }: Watcher,
  readAfter: (last: Position) => Promise<Row[]>,
  handle: (row: Row) => Promise<void>,
): Promise<void> {
  const pages = inBatches(START, async (after: Position) => {
    const rows = await readAfter(after);
    return { rows, last: rows.length < PAGE ? null : (rows.at(-1) ?? null) };
  });
  let handled = 0;
  for await (const { rows } of pages) {
    for (const row of rows) {
      await handle(row).catch((error: unknown) => onError(row.id, error));
      handled += 1;
      onProgress(handled);
    }
  }
}

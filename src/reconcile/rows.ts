import { inBatches, type Watcher } from '../db/batches.ts';

/** Rows of a page. */
export const PAGE = 200;

/** Where a page of rows ordered by time and id ended. */
export interface Position {
  readonly created_at: Date;
  readonly id: string;
}

const START: Position = { created_at: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/** Looks at one row after the other, the oldest first, read page by page. */
export async function lookAtEach<Row extends Position>(
  { onProgress, onError }: Watcher,
  readAfter: (last: Position) => Promise<Row[]>,
  look: (row: Row) => Promise<void>,
): Promise<void> {
  const pages = inBatches(START, async (after: Position) => {
    const rows = await readAfter(after);
    return { rows, last: rows.length < PAGE ? null : (rows.at(-1) ?? null) };
  });
  let looked = 0;
  for await (const { rows } of pages) {
    for (const row of rows) {
      await look(row).catch((error: unknown) => onError(row.id, error));
      looked += 1;
      onProgress(looked);
    }
  }
}

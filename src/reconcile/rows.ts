import type { Database } from '../db/database.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import type { TemporalClient } from '../temporal/workflow-client.ts';

/** Rows per page. */
export const PAGE = 200;
/** Rows of a walk that are handled at once: most of each is a call to Temporal. */
const AT_ONCE = 10;

export interface ReconcileDependencies {
  readonly db: Database;
  readonly client: TemporalClient;
  readonly names: TaskQueues;
  /** Younger ones are left to their creator; milliseconds. */
  readonly minimumAgeMs: number;
  /** Called for a row that failed; the others are handled all the same. */
  readonly onError: (id: string, error: unknown) => void;
}

/** A walk over rows, in steps: each begins where the one before it stopped. */
export interface Walk<Place> {
  /** Null for the beginning. */
  readonly from: Place | null;
  /** When the step ends, by `performance.now()`. */
  readonly until: number;
  /** Called before each row with the place where a lost step would go on; throwing stops the work. */
  readonly onPlace: (place: Place | null) => void;
}

/** Where the next step begins; null when the walk has come to its end. */
export interface Step<Place> {
  readonly last: Place | null;
}

/** The last row of a page ordered by time and id. */
export interface RowPlace {
  readonly createdAt: string;
  readonly id: string;
}

const START: RowPlace = { createdAt: new Date(0).toISOString(), id: '00000000-0000-0000-0000-000000000000' };

/** Handles some rows at once, each by itself: one that fails stops no other. */
export async function forAll<Row extends { readonly id: string }>(
  rows: readonly Row[],
  handle: (row: Row) => Promise<void>,
  { onRow, onError }: { readonly onRow: () => void } & Pick<ReconcileDependencies, 'onError'>,
): Promise<void> {
  const waiting = rows.values();
  const lane = async () => {
    for (const row of waiting) {
      onRow();
      await handle(row).catch((error: unknown) => onError(row.id, error));
    }
  };
  // When one is stopped, the others are at the end of their row.
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** One step over rows, oldest first, read page by page. @returns where it stopped */
export async function walkRows<Row extends { readonly id: string; readonly created_at: Date }>(
  { from, until, onPlace }: Walk<RowPlace>,
  onError: ReconcileDependencies['onError'],
  readAfter: (place: RowPlace) => Promise<Row[]>,
  handle: (row: Row) => Promise<void>,
): Promise<RowPlace | null> {
  for (let place = from; ; ) {
    const rows = await readAfter(place ?? START);
    await forAll(rows, handle, { onRow: () => onPlace(place), onError });
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return null;
    place = { createdAt: last.created_at.toISOString(), id: last.id };
    onPlace(place);
    if (performance.now() >= until) return place;
  }
}

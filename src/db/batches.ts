import { sql } from 'kysely';
import type { WorkspaceId } from '../ids.ts';
import { pause } from '../pause.ts';
import type { Database } from './database.ts';

/** Options of pruning. */
export interface PruneOptions {
  /** How long ended rows are kept, in milliseconds. */
  readonly retentionMs: number;
  /** Called after every batch; throwing stops the work. */
  readonly onProgress?: () => void;
}

/** Progress and errors of work over many rows. */
export interface Watcher {
  /** Called with the number of rows handled so far; throwing stops the work. */
  readonly onProgress: (looked: number) => void;
  /** Called for a row that failed; the others are handled all the same. */
  readonly onError: (id: string, error: unknown) => void;
}

/**
 * Works through a table in batches that commit by themselves, until one has no `last`.
 * @param next handles the batch after a position; its `last` is where the next one begins
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

/**
 * Repeats a statement that removes at most `limit` rows until it finds fewer.
 * @returns how many were removed in all
 */
export async function removeInBatches(
  limit: number,
  remove: () => Promise<{ readonly numAffectedRows?: bigint | undefined }>,
  onProgress?: () => void,
): Promise<number> {
  for (let removed = 0; ; ) {
    const { numAffectedRows = 0n } = await remove();
    removed += Number(numAffectedRows);
    onProgress?.();
    if (numAffectedRows < limit) return removed;
  }
}

/**
 * Removes rows older than `ageMs`, at most `limit` per statement. Skips locked rows.
 * @returns how many were removed
 */
export const removeOlder = (
  db: Database,
  [table, time]:
    | ['article_revisions' | 'proposals' | 'audit_entries' | 'generation_calls', 'created_at']
    | ['translation_memory', 'used_at']
    | ['asset_former_blobs', 'replaced_at'],
  { ageMs, limit }: { readonly ageMs: number; readonly limit: number },
  onProgress?: () => void,
): Promise<number> =>
  removeInBatches(
    limit,
    () =>
      sql`
        DELETE FROM ${sql.table(table)} WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM ${sql.table(table)}
          WHERE ${sql.ref(time)} < now() - make_interval(secs => ${ageMs / 1_000})
          LIMIT ${limit}
          FOR UPDATE SKIP LOCKED))`.execute(db),
    onProgress,
  );

/** Rest per millisecond of work on a list of all workspaces, for the benefit of other work. */
const REST_SHARE = 1;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000' as WorkspaceId;

/** SQL: no other session is active in the database. */
export const IS_ALONE = `NOT EXISTS (
  SELECT FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid())`;

/** A piece of work done. */
export interface Turn {
  readonly workspaceId: WorkspaceId;
  /** True when no rest is needed: {@link IS_ALONE}. */
  readonly isAlone?: boolean;
}

/**
 * Works off the lists of all workspaces, one piece of each in turn, with rests, until nothing is left.
 * @param next works on a piece of the first workspace after a given one; null when no later one has any
 * @returns false when nothing is left, true when the signal ended it
 */
export async function workInTurns(
  signal: AbortSignal,
  next: (after: WorkspaceId) => Promise<Turn | null>,
): Promise<boolean> {
  for (let after = BEFORE_ALL; !signal.aborted; ) {
    const began = performance.now();
    const turn = await next(after);
    if (turn === null && after === BEFORE_ALL) return false;
    after = turn?.workspaceId ?? BEFORE_ALL;
    if (turn !== null && !turn.isAlone) await pause((performance.now() - began) * REST_SHARE, signal);
  }
  return true;
}

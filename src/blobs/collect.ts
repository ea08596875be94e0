import { sql } from 'kysely';
import { inBatches } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { type BlobStore, SHARDS } from './blob-store.ts';
import { NAMED_BLOBS } from './named.ts';
import { removeUnnamed } from './references.ts';

const BLOBS_PER_BATCH = 500;
/** Files that one round removes; the next night continues. */
const MAX_REMOVED = 50_000;
/** Images sampled to check that the folder belongs to the database. */
const SAMPLE = 20;
/** A part of a file that a lost process left behind. */
const ABANDONED_DRAFT_MS = 86_400_000;

/** Progress of a round: the last hash whose row was checked, or the last sub-folder swept. */
export interface CollectPosition {
  readonly stage: 'rows' | 'files';
  readonly after: string;
}

export interface CollectOptions {
  readonly blobs: BlobStore;
  /** Milliseconds that a blob stays after the last row that named it. */
  readonly graceMs: number;
  /** Stops between two batches. */
  readonly signal: AbortSignal;
  /** Where an earlier attempt of the round stopped. */
  readonly from?: CollectPosition | undefined;
  readonly onProgress?: (position: CollectPosition) => void;
}

/**
 * Removes stored bytes that nothing has named for the grace period: images that were deleted with the last article
 * that had them, and files whose row never committed. A folder that holds none of the images which the database
 * knows is not its folder, and nothing is removed then.
 * @returns how many were removed, or null for such a folder
 */
export async function collectBlobs(db: Database, options: CollectOptions): Promise<number | null> {
  const { blobs, from, onProgress } = options;
  const folder = await identifyFolder(db, blobs);
  if (folder === 'foreign') return null;
  if (folder === 'unknown') return 0;
  let removed = 0;
  if (from?.stage !== 'files') {
    let checked = from?.after ?? '';
    const batches = inBatches(from?.after ?? '', (after: string) => collectRows(db, options, after));
    for await (const batch of batches) {
      for (const hash of batch.removed) {
        if (await inTransaction(db, (tx) => removeUnnamed(tx, blobs, hash))) removed += 1;
        onProgress?.({ stage: 'rows', after: checked });
      }
      checked = batch.last ?? checked;
      onProgress?.({ stage: 'rows', after: checked });
      if (removed >= MAX_REMOVED) break;
    }
  }
  let swept = from?.stage === 'files' ? from.after : '';
  for (const shard of SHARDS) {
    if (shard <= swept || removed >= MAX_REMOVED) continue;
    for await (const isRemoved of sweepShard(db, options, shard)) {
      if (isRemoved) removed += 1;
      // A shard can take long: whoever watches the round hears of it.
      onProgress?.({ stage: 'files', after: swept });
      if (removed >= MAX_REMOVED) break;
    }
    swept = shard;
    onProgress?.({ stage: 'files', after: swept });
  }
  return removed;
}

/** Whether the folder has an image that the database knows; `unknown` when the database knows none. */
async function identifyFolder(db: Database, blobs: BlobStore): Promise<'own' | 'foreign' | 'unknown'> {
  const known = await db.selectFrom('blobs').select('hash').orderBy('hash').limit(SAMPLE).execute();
  for (const { hash } of known) if (await blobs.has(hash)) return 'own';
  return known.length === 0 ? 'unknown' : 'foreign';
}

/**
 * Marks, among the next blobs, those that no row names any more, takes the mark from those that one names again, and
 * removes the rows of those that have been marked for the grace period.
 */
async function collectRows(
  db: Database,
  { graceMs, signal }: CollectOptions,
  after: string,
): Promise<{ removed: string[]; last: string | null }> {
  signal.throwIfAborted();
  return inTransaction(db, async (tx) => {
    const { rows } = await sql<{ hash: string }>`
      SELECT hash FROM blobs
      WHERE hash > ${after} AND (kept_until IS NULL OR kept_until <= now())
      ORDER BY hash LIMIT ${BLOBS_PER_BATCH}
      FOR UPDATE SKIP LOCKED`.execute(tx);
    const hashes = rows.map(({ hash }) => hash);
    // Separate statements: anyone who refers to one of these from now on waits for the locks above. The column has
    // milliseconds: a mark that was rounded up would be later than now.
    await sql`
      UPDATE blobs SET unreferenced_since = CASE WHEN unreferenced_since IS NULL THEN date_trunc('milliseconds', now()) END
      WHERE hash = ANY (${hashes}::text[])
        AND (unreferenced_since IS NULL) <> EXISTS (SELECT FROM ${NAMED_BLOBS} AS named WHERE named.hash = blobs.hash)`.execute(
      tx,
    );
    const gone = await sql<{ hash: string }>`
      DELETE FROM blobs
      WHERE hash = ANY (${hashes}::text[])
        AND unreferenced_since <= now() - make_interval(secs => ${graceMs / 1_000})
      RETURNING hash`.execute(tx);
    return { removed: gone.rows.map(({ hash }) => hash), last: hashes.at(-1) ?? null };
  });
}

/**
 * Removes what is stored in a shard for longer than the grace period and is named by no row.
 * @returns of each one that no row named whether it was removed
 */
async function* sweepShard(
  db: Database,
  { blobs, graceMs, signal }: CollectOptions,
  shard: string,
): AsyncGenerator<boolean> {
  signal.throwIfAborted();
  await blobs.discardDrafts(shard, ABANDONED_DRAFT_MS);
  for await (const page of blobs.list(shard)) {
    const { rows } = await sql<{ hash: string }>`
      SELECT hash FROM unnest(${page}::text[]) AS file (hash)
      WHERE NOT EXISTS (SELECT FROM blobs WHERE blobs.hash = file.hash)`.execute(db);
    for (const { hash } of rows) {
      signal.throwIfAborted();
      const age = await blobs.ageMs(hash);
      const isOld = age !== null && age >= graceMs;
      yield isOld && (await inTransaction(db, (tx) => removeUnnamed(tx, blobs, hash)));
    }
  }
}

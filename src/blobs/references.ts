import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { unavailable } from '../errors.ts';
import type { BlobStore } from './blob-store.ts';
import { NAMED_BLOBS } from './named.ts';
import { rethrowUnstored } from './unavailable.ts';

/** Bytes to be stored, and their hash. */
export interface NewBlob {
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, 64 hex digits. */
  readonly contentHash: string;
}

/** Held by a writer or remover of one hash's bytes until its transaction ends. */
const lockKey = (hash: string) => sql`hashtextextended(${`blob ${hash}`}, 0)`;

/** How long bytes wait for the transaction that names them: longer than the largest import takes to store its images. */
const LEASE_SECONDS = 3_600;

/** Stored bytes that no row names yet. */
export interface StagedBlobs {
  readonly hashes: readonly string[];
  /** Until when they are not removed. */
  readonly until: Date;
}

/**
 * Makes bytes durable before the transaction that names them, which then waits for no store (docs/design.md §6). What
 * is never named goes like images that were deleted.
 * @param requireRoom refuses in a transaction of its own, before anything is stored, what the naming one would refuse
 * @throws {ServiceError} SERVICE_UNAVAILABLE when the store fails or has no room (contract.md F20 and F41)
 */
export async function stageBlobs(
  db: Database,
  blobs: BlobStore,
  added: readonly NewBlob[],
  requireRoom: (tx: Tx) => Promise<void>,
): Promise<StagedBlobs> {
  const byHash = new Map(added.map((blob) => [blob.contentHash, blob.bytes]));
  // In hash order, so that two writers of the same images do not deadlock.
  const sorted = [...byHash].sort(([one], [other]) => (one < other ? -1 : 1));
  const until = await inTransaction(db, async (tx) => {
    await requireRoom(tx);
    const { rows } = await sql<{ until: Date }>`
      SELECT (clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))::timestamptz(3) AS until`.execute(
      tx,
    );
    const [{ until } = { until: new Date() }] = rows;
    for (const [hash, bytes] of sorted) {
      // Waits for whoever removes the bytes of an earlier row.
      await sql`SELECT pg_advisory_xact_lock(${lockKey(hash)})`.execute(tx);
      await tx
        .insertInto('blobs')
        .values({ hash, size: bytes.byteLength, kept_until: until })
        .onConflict((on) =>
          on.column('hash').doUpdateSet({ kept_until: sql`greatest(blobs.kept_until, excluded.kept_until)` }),
        )
        .execute();
    }
    return until;
  });
  for (const [hash, bytes] of sorted) await blobs.put(hash, bytes).catch(rethrowUnstored);
  return { hashes: sorted.map(([hash]) => hash), until };
}

/**
 * Keeps staged bytes for the rows of this transaction that name them.
 * @throws {ServiceError} SERVICE_UNAVAILABLE when they were staged too long ago
 */
export async function nameBlobs(tx: Tx, { hashes, until }: StagedBlobs): Promise<void> {
  if ((await holdRows(tx, hashes, until)).size < hashes.length) {
    throw unavailable('image_store', 'Storing the images took too long. Try again.');
  }
}

/**
 * Keeps blobs from being removed before this transaction inserts rows that name them.
 * @returns those whose bytes are there
 */
export const keepBlobs = (tx: Tx, hashes: readonly string[]): Promise<ReadonlySet<string>> =>
  holdRows(tx, [...new Set(hashes)], null);

/**
 * Holds rows until the transaction ends. One with `kept_until` says nothing about its bytes, which are still being
 * stored or never were, unless an image names it or the caller has stored them.
 */
async function holdRows(tx: Tx, hashes: readonly string[], until: Date | null): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set();
  const { rows } = await sql<{ hash: string; marked: boolean }>`
    SELECT hash, num_nonnulls(unreferenced_since, kept_until) > 0 AS marked FROM blobs
    WHERE hash = ANY (${hashes}::text[])
      AND (kept_until IS NULL OR clock_timestamp() < ${until}::timestamptz
        OR EXISTS (SELECT FROM ${NAMED_BLOBS} AS named WHERE named.hash = blobs.hash))
    ORDER BY hash FOR KEY SHARE OF blobs`.execute(tx);
  const marked = rows.filter((row) => row.marked).map(({ hash }) => hash);
  if (marked.length > 0) {
    await sql`
      UPDATE blobs SET unreferenced_since = NULL, kept_until = NULL WHERE hash = ANY (${marked}::text[])`.execute(
      tx,
    );
  }
  return new Set(rows.map(({ hash }) => hash));
}

/**
 * Removes the bytes of a hash that no row names, unless they are being written right now.
 * @returns whether they were removed
 */
export async function removeUnnamed(tx: Tx, blobs: BlobStore, hash: string): Promise<boolean> {
  const lock = await sql<{
    free: boolean;
  }>`SELECT pg_try_advisory_xact_lock(${lockKey(hash)}) AS free`.execute(tx);
  if (lock.rows[0]?.free !== true) return false;
  const { rows } = await sql`
    SELECT FROM blobs WHERE hash = ${hash} UNION ALL SELECT FROM ${NAMED_BLOBS} AS named WHERE hash = ${hash} LIMIT 1`.execute(
    tx,
  );
  if (rows.length > 0) return false;
  await blobs.remove(hash);
  return true;
}

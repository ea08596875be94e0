import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { errorCode } from '../error-text.ts';
import { ServiceError } from '../errors.ts';
import type { BlobStore } from './blob-store.ts';

/** Bytes to be stored, and their hash. */
export interface NewBlob {
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, 64 hex digits. */
  readonly contentHash: string;
}

/** A disk that is full, used up or read-only: an operator has to see to it. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EROFS']);
const RETRY_AFTER_SECONDS = 60;

function rethrowNoRoom(error: unknown): never {
  if (!NO_ROOM.has(errorCode(error))) throw error;
  throw new ServiceError('SERVICE_UNAVAILABLE', 'Images cannot be stored at the moment. Try again later.', {
    retryAfter: RETRY_AFTER_SECONDS,
    cause: error,
  });
}

/** Held by a writer or remover of one hash's bytes until its transaction ends. */
const lockKey = (hash: string) => sql`hashtextextended(${`blob ${hash}`}, 0)`;

/**
 * Makes the bytes durable and records that they are in use. Called last in the transaction that inserts the rows naming
 * them, after the quota check: refused bytes are never written, and no row commits without its bytes.
 * @throws {ServiceError} SERVICE_UNAVAILABLE when the store has no room (contract.md F20)
 */
export async function storeBlobs(tx: Tx, blobs: BlobStore, added: readonly NewBlob[]): Promise<void> {
  const byHash = new Map(added.map((blob) => [blob.contentHash, blob.bytes]));
  // In hash order, so that two writers of the same images do not deadlock.
  for (const [hash, bytes] of [...byHash].sort(([one], [other]) => (one < other ? -1 : 1))) {
    await sql`SELECT pg_advisory_xact_lock(${lockKey(hash)})`.execute(tx);
    await blobs.put(hash, bytes).catch(rethrowNoRoom);
    await tx
      .insertInto('blobs')
      .values({ hash, size: bytes.byteLength })
      .onConflict((on) => on.column('hash').doUpdateSet({ unreferenced_since: null }))
      .execute();
  }
}

/**
 * Keeps blobs from being removed before this transaction inserts rows that name them.
 * @returns those that still exist
 */
export async function keepBlobs(tx: Tx, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set();
  const wanted = [...new Set(hashes)];
  const { rows } = await sql<{ hash: string; marked: boolean }>`
    SELECT hash, unreferenced_since IS NOT NULL AS marked FROM blobs
    WHERE hash = ANY (${wanted}::text[]) ORDER BY hash FOR KEY SHARE`.execute(tx);
  const marked = rows.filter((row) => row.marked).map(({ hash }) => hash);
  if (marked.length > 0) {
    await sql`UPDATE blobs SET unreferenced_since = NULL WHERE hash = ANY (${marked}::text[])`.execute(tx);
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
    SELECT FROM blobs WHERE hash = ${hash} UNION ALL SELECT FROM assets WHERE content_hash = ${hash} LIMIT 1`.execute(
    tx,
  );
  if (rows.length > 0) return false;
  await blobs.remove(hash);
  return true;
}

import { buffer } from 'node:stream/consumers';
import { MAX_IMAGE_BYTES } from './asset.ts';
import { type BlobStore, contentHashOf, SHARDS } from './blob-store.ts';

/** Copied at once: each takes the memory of a whole blob. */
const AT_ONCE = 4;

export interface CopyCounts {
  readonly copied: number;
  readonly copiedBytes: number;
  /** Those that the target had already. */
  readonly present: number;
  /** Those whose bytes are not those of their hash. */
  readonly damaged: number;
}

export interface CopyReport {
  /** Called after each of the 256 parts, with what was done in it. */
  readonly onShard: (shard: string, counts: CopyCounts) => void;
  readonly onDamaged: (hash: string) => void;
}

/**
 * Copies the blobs that the target lacks. Both are listed beside each other, so that a second run goes on where the
 * first one ended, and four blobs are in memory at most. Each is compared with its hash; a damaged one is left out
 * (contract.md F43).
 * @throws {BlobStoreError} or Node's error of a folder, as soon as one of the two fails
 */
export async function copyBlobs(
  from: BlobStore,
  to: BlobStore,
  { onShard, onDamaged }: CopyReport,
): Promise<CopyCounts> {
  let total: CopyCounts = { copied: 0, copiedBytes: 0, present: 0, damaged: 0 };
  for (const shard of SHARDS) {
    const counts = { copied: 0, copiedBytes: 0, present: 0, damaged: 0 };
    const compared = compare(from.list(shard), to.list(shard));
    let hasFailed = false;
    const copySome = async (): Promise<void> => {
      for (let next = await compared.next(); next.done !== true; next = await compared.next()) {
        if (hasFailed) return;
        const { hash, isThere } = next.value;
        const bytes = isThere ? 'there' : await copyBlob(from, to, hash);
        if (bytes === 'there') counts.present += 1;
        else if (bytes === 'damaged') {
          counts.damaged += 1;
          onDamaged(hash);
        } else if (bytes !== null) {
          counts.copied += 1;
          counts.copiedBytes += bytes;
        }
      }
    };
    const copying = Array.from({ length: AT_ONCE }, () =>
      copySome().catch((error: unknown) => {
        hasFailed = true;
        throw error;
      }),
    );
    for (const end of await Promise.allSettled(copying)) if (end.status === 'rejected') throw end.reason;
    total = {
      copied: total.copied + counts.copied,
      copiedBytes: total.copiedBytes + counts.copiedBytes,
      present: total.present + counts.present,
      damaged: total.damaged + counts.damaged,
    };
    onShard(shard, counts);
  }
  return total;
}

/** @returns how many bytes; null for a blob that was removed meanwhile */
async function copyBlob(from: BlobStore, to: BlobStore, hash: string): Promise<number | 'damaged' | null> {
  const blob = await from.open(hash);
  if (blob === null) return null;
  if (blob.size > MAX_IMAGE_BYTES) return 'damaged';
  const bytes = await buffer(blob.read());
  if ((await contentHashOf(bytes)) !== hash) return 'damaged';
  await to.put(hash, bytes);
  return bytes.byteLength;
}

/** The hashes of the first list, each with whether the second has it. Both are in ascending order. */
async function* compare(
  source: AsyncIterable<readonly string[]>,
  target: AsyncIterable<readonly string[]>,
): AsyncGenerator<{ hash: string; isThere: boolean }> {
  const others = oneByOne(target);
  let other = await others.next();
  for await (const hash of oneByOne(source)) {
    while (other.done !== true && other.value < hash) other = await others.next();
    yield { hash, isThere: other.done !== true && other.value === hash };
  }
}

async function* oneByOne(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const page of pages) yield* page;
}

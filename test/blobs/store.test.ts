import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BlobStore, blobKey } from '../../src/blobs/blob-store.ts';
import { STORES, type StoreUnderTest } from './support/stores.ts';

const MIB = 1024 * 1024;
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
/** Bytes of no shard that is listed below. */
const fresh = (size = 1_000): { bytes: Buffer; hash: string } => {
  for (;;) {
    const bytes = randomBytes(size);
    const hash = hashOf(bytes);
    if (size === 0 || !hash.startsWith('5')) return { bytes, hash };
  }
};
/** Bytes whose hashes begin with the two digits. */
function* ofShard(shard: string, count: number): Generator<{ bytes: Buffer; hash: string }> {
  for (let number = 0, found = 0; found < count; number += 1) {
    const bytes = Buffer.from(`${shard} ${number}`);
    const hash = hashOf(bytes);
    if (!hash.startsWith(shard)) continue;
    found += 1;
    yield { bytes, hash };
  }
}
const listed = (store: BlobStore, shard: string) => Array.fromAsync(store.list(shard));
const bytesOf = async (store: BlobStore, hash: string): Promise<Buffer | null> => {
  const blob = await store.open(hash);
  return blob === null ? null : buffer(blob.read());
};

// contract.md F40
describe.each(STORES)('$name', ({ start }) => {
  let under: StoreUnderTest;
  let store: BlobStore;
  beforeAll(async () => {
    under = await start();
    store = under.store;
  });
  afterAll(() => under.stop());

  it.each([0, 1, 70_000, 20 * MIB])('gives back %d bytes as they were put', async (size) => {
    const { bytes, hash } = fresh(size);
    await store.put(hash, bytes);
    const blob = await store.open(hash);
    expect(blob?.size).toBe(size);
    expect(await store.has(hash)).toBe(true);
    expect(bytes.equals((await bytesOf(store, hash)) ?? Buffer.of(1))).toBe(true);
  });

  it('has nothing of a hash that was never put, nor of what is no hash', async () => {
    for (const name of [fresh().hash, '../../../etc/passwd', '', 'AB'.repeat(32)]) {
      expect(await store.has(name)).toBe(false);
      expect(await store.open(name)).toBe(null);
    }
    expect(await store.ageMs(fresh().hash)).toBe(null);
  });

  it('counts the age of a blob from when it was first put', async () => {
    const { bytes, hash } = fresh();
    await store.put(hash, bytes);
    const young = await store.ageMs(hash);
    expect(young).toBeGreaterThanOrEqual(0);
    expect(young).toBeLessThan(60_000);
    under.setAge(hash, 3_600_000);
    await store.put(hash, bytes);
    const old = (await store.ageMs(hash)) ?? 0;
    expect(Math.abs(old - 3_600_000)).toBeLessThan(60_000);
  });

  it('puts a part that somebody else left right', async () => {
    const { bytes, hash } = fresh();
    await under.plant(blobKey(hash), bytes.subarray(0, 400));
    await store.put(hash, bytes);
    expect(await bytesOf(store, hash)).toEqual(bytes);
  });

  it('takes the same bytes from many writers at once', async () => {
    const { bytes, hash } = fresh(MIB);
    await Promise.all(Array.from({ length: 8 }, () => store.put(hash, bytes)));
    expect(await bytesOf(store, hash)).toEqual(bytes);
  });

  it('removes a blob, and one that is not there', async () => {
    const { bytes, hash } = fresh();
    await store.put(hash, bytes);
    await store.remove(hash);
    expect(await store.has(hash)).toBe(false);
    await store.remove(hash);
  });

  it('ends a stream with an error when its blob has been removed', async () => {
    const { bytes, hash } = fresh();
    await store.put(hash, bytes);
    const blob = await store.open(hash);
    await store.remove(hash);
    await expect(buffer(blob?.read() ?? new ReadableStream())).rejects.toThrow();
  });

  it('lists a shard in order, however many pages that takes, and what is no blob never', async () => {
    const blobs = [...ofShard('5a', 1_100)];
    for (let from = 0; from < blobs.length; from += 50) {
      await Promise.all(blobs.slice(from, from + 50).map(({ hash, bytes }) => store.put(hash, bytes)));
    }
    const [neighbour = fresh()] = ofShard('5b', 1);
    await store.put(neighbour.hash, neighbour.bytes);
    for (const key of ['5a/00/README', `5a/00/${'5a'.repeat(32)}.0f.tmp`])
      await under.plant(key, Buffer.from('x'));
    const pages = await listed(store, '5a');
    expect(pages.flat()).toEqual(blobs.map(({ hash }) => hash).sort());
    expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(1_000);
    expect(await listed(store, '5b')).toEqual([[neighbour.hash]]);
    expect(await listed(store, '5c')).toEqual([]);
  });

  it('goes on when a reader leaves in the middle, or never begins', async () => {
    const { bytes, hash } = fresh(20 * MIB);
    await store.put(hash, bytes);
    for (let round = 0; round < 20; round += 1) {
      const blob = await store.open(hash);
      const reader = blob?.read().getReader();
      if (round % 2 === 0) expect((await reader?.read())?.value?.byteLength).toBeGreaterThan(0);
      await reader?.cancel();
    }
    expect(bytes.equals((await bytesOf(store, hash)) ?? Buffer.of(1))).toBe(true);
  });

  it('says that it can be used, and has no drafts of its own making', async () => {
    await store.check();
    await store.discardDrafts('5a', 0);
    expect((await listed(store, '5a')).flat()).toHaveLength(1_100);
  });
});

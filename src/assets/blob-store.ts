import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../local/files.ts';

/** A stored blob. */
export interface StoredBlob {
  /** SHA-256 of the bytes, 64 hex digits: the address. */
  readonly contentHash: string;
  readonly byteSize: number;
}

/** Bytes by their hash: the same bytes are kept once, whoever stores them, and never change. */
export interface BlobStore {
  /** Returns when the bytes are durable. */
  readonly put: (bytes: Uint8Array) => Promise<StoredBlob>;
  /** The bytes, or null when none have that hash. */
  readonly get: (contentHash: string) => Promise<Uint8Array | null>;
  readonly has: (contentHash: string) => Promise<boolean>;
}

const HASH = /^[0-9a-f]{64}$/;

/** Where the blobs of a data folder are. */
export const blobFolder = (dataDir: string): string => path.join(dataDir, 'blobs');

/**
 * A store in a local folder, which is made with the first blob. Two levels of sub-folders keep each of them
 * small. A blob is written under a temporary name and renamed when it is whole, so that readers never see
 * a part, whatever ends the process.
 */
export function createLocalBlobStore(folder: string): BlobStore {
  const pathOf = (hash: string): string => path.join(folder, hash.slice(0, 2), hash.slice(2, 4), hash);

  const has = async (contentHash: string): Promise<boolean> =>
    HASH.test(contentHash) && (await sizeOf(pathOf(contentHash))) !== null;

  return {
    has,
    async put(bytes) {
      const contentHash = createHash('sha256').update(bytes).digest('hex');
      const byteSize = bytes.byteLength;
      const target = pathOf(contentHash);
      if ((await sizeOf(target)) !== byteSize) await writeDurably(target, bytes);
      return { contentHash, byteSize };
    },
    async get(contentHash) {
      if (!HASH.test(contentHash)) return null;
      return ifPresent(() => readFile(pathOf(contentHash)));
    },
  };
}

async function ifPresent<Value>(read: () => Promise<Value>): Promise<Value | null> {
  try {
    return await read();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

const sizeOf = (file: string): Promise<number | null> => ifPresent(async () => (await stat(file)).size);

async function writeDurably(target: string, bytes: Uint8Array): Promise<void> {
  const folder = path.dirname(target);
  await mkdir(folder, { recursive: true });
  const draft = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await withFile(await open(draft, 'wx', 0o600), async (file) => {
      await file.writeFile(bytes);
      await file.sync();
    });
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  // The new name is as durable as the bytes only once its folder is.
  await withFile(await open(folder, 'r'), (file) => file.sync());
}

async function withFile(file: FileHandle, use: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await use(file);
  } finally {
    await file.close();
  }
}

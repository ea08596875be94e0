import { randomBytes, subtle } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../error-text.ts';

/** A stored blob. */
export interface StoredBlob {
  readonly size: number;
  /** A stream that reads no faster than it is consumed. */
  readonly read: () => ReadableStream<Uint8Array>;
}

/** Bytes by their hash: equal bytes are stored once and never change. */
export interface BlobStore {
  /** Resolves when the bytes, whose hash is given, are durable. */
  readonly put: (contentHash: string, bytes: Uint8Array) => Promise<void>;
  /** Opens a blob for reading, or returns null when there is none. */
  readonly open: (contentHash: string) => Promise<StoredBlob | null>;
  readonly has: (contentHash: string) => Promise<boolean>;
  /** Milliseconds since the bytes were written, or null when there is no such blob. */
  readonly ageMs: (contentHash: string) => Promise<number | null>;
  readonly remove: (contentHash: string) => Promise<void>;
  /** The hashes that begin with the two digits, and the abandoned drafts beside them. */
  readonly list: (shard: string) => Promise<{ hashes: string[]; drafts: string[] }>;
  /** Removes a draft that has not been written to for this many milliseconds. */
  readonly discardDraft: (draft: string, minimumAgeMs: number) => Promise<void>;
}

/** The SHA-256 of bytes, 64 hex digits. Computed off the event loop. */
export async function contentHashOf(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex');
}

const HASH = /^[0-9a-f]{64}$/;
/** Suffix of files that are still being written. */
const DRAFT = '.tmp';

/** The folder of blobs in a data folder. */
export const blobFolder = (dataDir: string): string => path.join(dataDir, 'blobs');

/**
 * A store in a local folder, created with the first blob. Two levels of sub-folders keep each small. A blob is written
 * under a temporary name and renamed when complete, so that readers never see a part, even when the process is killed.
 */
export function createLocalBlobStore(folder: string): BlobStore {
  const pathOf = (hash: string): string => path.join(folder, hash.slice(0, 2), hash.slice(2, 4), hash);

  /** Folders that are known to outlive a power failure. */
  const durable = new Set<string>();
  const makeFolder = async (wanted: string): Promise<void> => {
    await mkdir(wanted, { recursive: true });
    // A name is durable only once the folder that it stands in is, whoever made it.
    for (const made of [path.dirname(folder), folder, path.dirname(wanted), wanted]) {
      if (durable.has(made)) continue;
      await syncFolder(path.dirname(made));
      durable.add(made);
    }
  };

  const ageOf = async (file: string): Promise<number | null> => {
    const found = await ifPresent(() => stat(file));
    return found === null ? null : Date.now() - found.mtimeMs;
  };

  return {
    has: async (contentHash) => HASH.test(contentHash) && (await sizeOf(pathOf(contentHash))) !== null,
    async put(contentHash, bytes) {
      const target = pathOf(contentHash);
      if ((await sizeOf(target)) === bytes.byteLength) return;
      await makeFolder(path.dirname(target));
      await writeDurably(target, bytes);
    },
    async open(contentHash) {
      const file = pathOf(contentHash);
      const size = HASH.test(contentHash) ? await sizeOf(file) : null;
      return size === null ? null : { size, read: () => ReadableStream.from(piecesOf(file)) };
    },
    ageMs: (contentHash) => ageOf(pathOf(contentHash)),
    remove: (contentHash) => rm(pathOf(contentHash), { force: true }),
    async list(shard) {
      const hashes: string[] = [];
      const drafts: string[] = [];
      for (const sub of (await ifPresent(() => readdir(path.join(folder, shard)))) ?? []) {
        for (const name of (await ifPresent(() => readdir(path.join(folder, shard, sub)))) ?? []) {
          if (HASH.test(name)) hashes.push(name);
          else if (name.endsWith(DRAFT)) drafts.push(path.join(folder, shard, sub, name));
        }
      }
      return { hashes, drafts };
    },
    async discardDraft(draft, minimumAgeMs) {
      const age = await ageOf(draft);
      if (age !== null && age >= minimumAgeMs) await rm(draft, { force: true });
    },
  };
}

/** Small, because every reader of an image holds some. */
const PIECE_BYTES = 16 * 1024;

/** Opens the file on the first read: unread streams hold no file open. */
async function* piecesOf(file: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file, { highWaterMark: PIECE_BYTES });
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
  const draft = `${target}.${randomBytes(6).toString('hex')}${DRAFT}`;
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
  await syncFolder(path.dirname(target));
}

const syncFolder = async (folder: string): Promise<void> =>
  withFile(await open(folder, 'r'), (file) => file.sync());

async function withFile(file: FileHandle, use: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await use(file);
  } finally {
    await file.close();
  }
}

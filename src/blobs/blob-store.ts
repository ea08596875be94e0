import { randomBytes, subtle } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../error-text.ts';

/** A stored blob. */
export interface StoredBlob {
  readonly size: number;
  /** At most as many bytes of it are in memory while it is read. */
  readonly bytesHeld: number;
  /** A stream that reads no faster than it is consumed. */
  readonly read: () => ReadableStream<Uint8Array>;
}

/**
 * Bytes by their hash: equal bytes are stored once and never change. All reject with a BlobStoreError, or with Node's
 * errors of a folder.
 */
export interface BlobStore {
  /** Resolves when the bytes, whose hash is given, are durable. Bytes that are there stay as old as they are. */
  readonly put: (contentHash: string, bytes: Uint8Array) => Promise<void>;
  /** Opens a blob for reading, or returns null when there is none. Its stream fails if it ends before the last byte. */
  readonly open: (contentHash: string) => Promise<StoredBlob | null>;
  readonly has: (contentHash: string) => Promise<boolean>;
  /** Milliseconds since the bytes were written, by the clock of the store; null when there is no such blob. */
  readonly ageMs: (contentHash: string) => Promise<number | null>;
  readonly remove: (contentHash: string) => Promise<void>;
  /** The hashes that begin with the two digits, in ascending order, some hundred at a time. */
  readonly list: (shard: string) => AsyncIterable<readonly string[]>;
  /** Removes what writers left unfinished beside those hashes and has not changed for this many milliseconds. */
  readonly discardDrafts: (shard: string, minimumAgeMs: number) => Promise<void>;
  /** Rejects when the store cannot be used at the moment. */
  readonly check: () => Promise<void>;
  /** Closes connections. */
  readonly close: () => Promise<void>;
}

/** A store that did not do what it was asked. The message is for operators and names no secret. */
export class BlobStoreError extends Error {
  override readonly name = 'BlobStoreError';
  /** Whether the same may succeed later without an operator. */
  readonly retryable: boolean;

  constructor(message: string, extra: { readonly retryable: boolean; readonly cause?: unknown }) {
    super(message, { cause: extra.cause });
    this.retryable = extra.retryable;
  }
}

/** The SHA-256 of bytes, 64 hex digits. Computed off the event loop. */
export async function contentHashOf(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex');
}

const HASH = /^[0-9a-f]{64}$/;
/** Whether the text is a content hash. */
export const isContentHash = (text: string): boolean => HASH.test(text);

/** Where a blob is, relative to its store: two levels of folders keep each small. The same in every store. */
export const blobKey = (hash: string): string => `${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;

/** The first two digits of all hashes, in ascending order. */
export const SHARDS: readonly string[] = Array.from({ length: 256 }, (_, shard) =>
  shard.toString(16).padStart(2, '0'),
);

/** Suffix of files that are still being written. */
const DRAFT = '.tmp';

/** The folder of blobs in a data folder. */
export const blobFolder = (dataDir: string): string => path.join(dataDir, 'blobs');

/**
 * A store in a local folder, created with the first blob. A blob is written under a temporary name and renamed when
 * complete, so that readers never see a part, even when the process is killed.
 */
export function createLocalBlobStore(folder: string): BlobStore {
  const pathOf = (hash: string): string => path.join(folder, blobKey(hash));

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
    has: async (contentHash) => isContentHash(contentHash) && (await sizeOf(pathOf(contentHash))) !== null,
    async put(contentHash, bytes) {
      const target = pathOf(contentHash);
      if ((await sizeOf(target)) === bytes.byteLength) return;
      await makeFolder(path.dirname(target));
      await writeDurably(target, bytes);
    },
    async open(contentHash) {
      const file = pathOf(contentHash);
      const size = isContentHash(contentHash) ? await sizeOf(file) : null;
      return size === null
        ? null
        : { size, bytesHeld: PIECE_BYTES, read: () => ReadableStream.from(piecesOf(file)) };
    },
    ageMs: (contentHash) => ageOf(pathOf(contentHash)),
    remove: (contentHash) => rm(pathOf(contentHash), { force: true }),
    async *list(shard) {
      for (const sub of await namesIn(path.join(folder, shard))) {
        const hashes = (await namesIn(path.join(folder, shard, sub))).filter(isContentHash);
        if (hashes.length > 0) yield hashes;
      }
    },
    async discardDrafts(shard, minimumAgeMs) {
      for (const sub of await namesIn(path.join(folder, shard))) {
        for (const name of await namesIn(path.join(folder, shard, sub))) {
          if (!name.endsWith(DRAFT)) continue;
          const draft = path.join(folder, shard, sub, name);
          const age = await ageOf(draft);
          if (age !== null && age >= minimumAgeMs) await rm(draft, { force: true });
        }
      }
    },
    async check() {
      // The first blob makes the folder.
      await ifPresent(() => readdir(path.join(folder, '00')));
    },
    async close() {},
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

/** The names in a folder, in ascending order; none when there is no such folder. */
const namesIn = async (folder: string): Promise<string[]> =>
  ((await ifPresent(() => readdir(folder))) ?? []).sort();

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

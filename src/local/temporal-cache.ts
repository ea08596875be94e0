import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readIfPresent, writeSecretFile } from '../files.ts';
import { cacheFolder, isExecutable } from './executables.ts';
import {
  checkHash,
  LAST_RESORT,
  pinnedExecutable,
  sha256,
  type TemporalRelease,
} from './temporal-release.ts';

/** After a failed fetch, an older executable is used for this long without trying again. */
const FAILED_LATELY_MS = 60 * 60_000;

/** The executables fetched or built before. Each is checked before it is run: a file can be corrupt. */
export type TemporalCache = {
  /** Of the release; the lock of all fetches lies here. */
  folder: string;
  /** The pinned executable, null when there is none; throws an Error with both hashes when it is another file. */
  pinned(): Promise<string | null>;
  /** The last resort as Go built it; null when there is none, or it has changed since. */
  built(): Promise<string | null>;
  /** Puts a checked file into place, in one step. Answers its path there. */
  keepPinned(file: string): string;
  keepBuilt(file: string): Promise<string>;
  /** Whether the release could not be fetched in the last hour. */
  failedLately(): boolean;
  noteFailure(): void;
};

/** The cache of this user, for one release. */
export function openCache(env: NodeJS.ProcessEnv, release: TemporalRelease): TemporalCache {
  const folder = join(cacheFolder(env), `temporal-${release.version}`);
  const builtFolder = join(cacheFolder(env), `temporal-${LAST_RESORT.version}`);
  const pinnedPath = join(folder, 'temporal');
  const builtPath = join(builtFolder, 'temporal');
  const builtHash = join(builtFolder, 'temporal.sha256');
  const failure = join(folder, 'failed');
  return {
    folder,
    async pinned() {
      if (!isExecutable(pinnedPath)) return null;
      await checkHash(pinnedPath, pinnedExecutable(release).sha256, pinnedPath);
      return pinnedPath;
    },
    async built() {
      const expected = readIfPresent(builtHash)?.trim();
      if (expected === undefined || !isExecutable(builtPath)) return null;
      return (await sha256(builtPath)) === expected ? builtPath : null;
    },
    keepPinned(file) {
      keep(file, pinnedPath);
      rmSync(failure, { force: true });
      return pinnedPath;
    },
    async keepBuilt(file) {
      mkdirSync(builtFolder, { recursive: true });
      writeSecretFile(builtHash, `${await sha256(file)}\n`);
      keep(file, builtPath);
      return builtPath;
    },
    failedLately() {
      const failedAt = statSync(failure, { throwIfNoEntry: false })?.mtimeMs;
      return failedAt !== undefined && Date.now() - failedAt < FAILED_LATELY_MS;
    },
    noteFailure() {
      writeSecretFile(failure, 'No fetch of this release has succeeded.\n');
    },
  };
}

/** No one ever sees half an executable, not even after a power failure. */
function keep(file: string, path: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  chmodSync(file, 0o755);
  renameSync(file, path);
}

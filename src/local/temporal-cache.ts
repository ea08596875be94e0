import { chmodSync, closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, isExecutable } from './executables.ts';
import { checkHash, pinnedExecutable, type TemporalCli, type TemporalRelease } from './temporal-release.ts';

/** The user's cache of one release's executable. */
export type TemporalCache = {
  /** Also contains the lock of all fetches. */
  folder: string;
  /** The executable; null when missing. @throws Error with both hashes when the file differs */
  find(): Promise<TemporalCli | null>;
  /** Moves a checked file into place atomically. */
  keep(file: string): TemporalCli;
};

/** Opens the cache for one release. A file can be incomplete, so its hash is checked before each use. */
export function openCache(env: NodeJS.ProcessEnv, release: TemporalRelease): TemporalCache {
  const folder = join(cacheFolder(env), `temporal-${release.version}`);
  const cli: TemporalCli = { path: join(folder, 'temporal'), version: release.version, source: 'cache' };
  return {
    folder,
    async find() {
      if (!isExecutable(cli.path)) return null;
      await checkHash(cli.path, pinnedExecutable(release).sha256, cli.path);
      return cli;
    },
    keep(file) {
      // Sync, so that a power failure leaves no partial executable.
      const descriptor = openSync(file, 'r+');
      try {
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      chmodSync(file, 0o755);
      renameSync(file, cli.path);
      return cli;
    },
  };
}

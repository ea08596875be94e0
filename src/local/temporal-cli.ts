import { execFile } from 'node:child_process';
import { accessSync, constants, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Progress } from './engine.ts';
import { errorMessage } from './files.ts';
import { waitForLock } from './lock.ts';
import { buildWithGo, downloadWithSdk } from './temporal-fetch.ts';

/** The release everybody runs: the newest that `go install` can build. */
export const TEMPORAL_CLI_VERSION = 'v1.5.1';

/** The server inside that release. A `temporal` on PATH with an older one is passed over. */
const MINIMUM_SERVER = '1.29.1';

/** Longest wait for another process that is fetching the executable at the same time. */
const FETCH_WAIT_MS = 25 * 60_000;

/** A usable Temporal CLI. `version` is a file-name-safe name of its release, such as v1.5.1. */
export type TemporalCli = { path: string; version: string; source: 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' };

export type TemporalCliOptions = {
  env: NodeJS.ProcessEnv;
  onProgress: Progress;
  signal?: AbortSignal | undefined;
  /** How long a download may stand still before it is given up, in milliseconds. */
  downloadStallMs?: number;
};

/**
 * Finds the Temporal CLI, or gets it: TEMPORAL_CLI_PATH, a `temporal` on PATH, the user's cache folder, the SDK's own
 * download into that folder, `go install` into it (design.md, 4).
 *
 * @throws Error that lists the ways when none works
 */
export async function findTemporalCli(options: TemporalCliOptions): Promise<TemporalCli> {
  const { env, onProgress } = options;
  if (env.TEMPORAL_CLI_PATH !== undefined && env.TEMPORAL_CLI_PATH !== '') {
    return namedCli(resolve(env.TEMPORAL_CLI_PATH));
  }
  const onPath = findOnPath('temporal', env);
  if (onPath !== null) {
    const found = await askVersion(onPath);
    if (found !== null && !isOlder(found.server, MINIMUM_SERVER)) {
      return { path: onPath, version: found.version, source: 'PATH' };
    }
    const why = found === null ? 'it does not answer --version' : `its server ${found.server} is too old`;
    onProgress(`Passing over ${onPath}: ${why}`);
  }
  const folder = join(cacheFolder(env), `temporal-${TEMPORAL_CLI_VERSION}`);
  const path = join(folder, executableName('temporal'));
  if (!isExecutable(path)) await fetchInto(folder, path, options);
  return { path, version: TEMPORAL_CLI_VERSION, source: 'cache' };
}

/** The folder for files worth keeping between checkouts, by the platform's own convention. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const name = 'workspace-content-service';
  const home = env.HOME ?? homedir();
  if (process.platform === 'darwin') return join(home, 'Library', 'Caches', name);
  if (process.platform === 'win32') return join(env.LOCALAPPDATA ?? join(home, 'AppData', 'Local'), name);
  // XDG Base Directory Specification: a relative XDG_CACHE_HOME is ignored.
  const base = env.XDG_CACHE_HOME?.startsWith('/') ? env.XDG_CACHE_HOME : join(home, '.cache');
  return join(base, name);
}

/** Looks an executable up on PATH; null when there is none. */
export function findOnPath(name: string, env: NodeJS.ProcessEnv): string | null {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const path = join(folder, executableName(name));
    if (folder !== '' && isExecutable(path)) return path;
  }
  return null;
}

async function namedCli(path: string): Promise<TemporalCli> {
  const found = await askVersion(path);
  if (found === null) {
    throw new Error(
      `TEMPORAL_CLI_PATH is ${path}, but that is no Temporal CLI: it does not answer --version.`,
    );
  }
  return { path, version: found.version, source: 'TEMPORAL_CLI_PATH' };
}

/** The release and its server's version; builds by `go install` know the latter only, so they are named after it. */
async function askVersion(path: string): Promise<{ version: string; server: string } | null> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 15_000 });
    const [, cli, server] = /^temporal version (\S+) \(Server ([\d.]+)/.exec(stdout) ?? [];
    if (cli === undefined || server === undefined) return null;
    const isRelease = /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(cli) && !cli.startsWith('0.0.0');
    return { version: isRelease ? `v${cli}` : `server-${server}`, server };
  } catch {
    return null;
  }
}

function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) < 0;
}

async function fetchInto(folder: string, path: string, options: TemporalCliOptions): Promise<void> {
  const { onProgress, signal } = options;
  mkdirSync(folder, { recursive: true });
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
  if ('heldBy' in attempt) {
    throw new Error(`Process ${attempt.heldBy.pid} has been fetching the Temporal CLI for too long: end it.`);
  }
  const scratch = join(folder, 'fetch');
  try {
    if (isExecutable(path)) return;
    // One that was killed in the middle may have left a lot.
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
    mkdirSync(scratch);
    const fetched = await fetch(scratch, options);
    // Into place in one step: nobody ever sees half an executable.
    renameSync(fetched, path);
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
    attempt.lock.release();
  }
}

async function fetch(scratch: string, options: TemporalCliOptions): Promise<string> {
  const ways = [
    { name: 'Download', run: () => downloadWithSdk(scratch, TEMPORAL_CLI_VERSION, options) },
    {
      name: 'go install',
      run: () => buildWithGo(scratch, TEMPORAL_CLI_VERSION, findGo(options.env), options),
    },
  ];
  const failures: string[] = [];
  for (const way of ways) {
    try {
      const path = await way.run();
      if ((await askVersion(path)) !== null) return path;
      failures.push(`${way.name}: what it brought does not answer --version`);
    } catch (error) {
      options.signal?.throwIfAborted();
      failures.push(`${way.name}: ${errorMessage(error)}`);
    }
  }
  throw new Error(
    [
      `The Temporal CLI ${TEMPORAL_CLI_VERSION} is not on this machine and cannot be fetched:`,
      ...failures.map((failure) => `  ${failure}`),
      'One of these helps:',
      '  - put a `temporal` executable on PATH (https://docs.temporal.io/cli), or name it in TEMPORAL_CLI_PATH',
      `  - install Go, which then builds it once: go install github.com/temporalio/cli/cmd/temporal@${TEMPORAL_CLI_VERSION}`,
      '  - set TEMPORAL_ADDRESS to a Temporal server that runs already',
    ].join('\n'),
  );
}

/** Go's own installer leaves it to the user to put its folder on PATH. */
function findGo(env: NodeJS.ProcessEnv): string | null {
  return findOnPath('go', env) ?? findOnPath('go', { PATH: '/usr/local/go/bin' });
}

function executableName(name: string): string {
  return process.platform === 'win32' ? `${name}.exe` : name;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

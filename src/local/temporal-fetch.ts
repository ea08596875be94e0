import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Progress } from './engine.ts';

type FetchOptions = {
  env: NodeJS.ProcessEnv;
  onProgress: Progress;
  signal?: AbortSignal | undefined;
  downloadStallMs?: number;
};

/** A download that brings no byte for this long is given up. */
const DOWNLOAD_STALL_MS = 15_000;

/** A build on a slow machine takes minutes; one that takes this long hangs. */
const BUILD_TIMEOUT_MS = 20 * 60_000;

/** How often progress is told while something takes long. */
const TELL_EVERY_MS = 5_000;

/**
 * Lets the Temporal SDK download the CLI. It does so in a process of its own: the SDK cannot abandon a download, it
 * writes to the terminal, and its runtime can be set up only once a process.
 *
 * @param scratch an existing empty folder
 * @returns the path of the executable
 * @throws Error when the host cannot be reached or stops answering
 */
export async function downloadWithSdk(
  scratch: string,
  version: string,
  options: FetchOptions,
): Promise<string> {
  const { onProgress, signal, env } = options;
  const folder = join(scratch, 'download');
  mkdirSync(folder);
  onProgress(`Downloading the Temporal CLI ${version} (once)`);
  const script = fileURLToPath(new URL('./temporal-download.ts', import.meta.url));
  const child = spawn(process.execPath, [script, folder, version], {
    env,
    stdio: 'ignore',
    windowsHide: true,
  });
  const exit = exitOf(child);
  const stalled = watchDownload(child, folder, options);
  try {
    const code = await Promise.race([exit, stalled, aborted(signal)]);
    if (code !== 0) throw new Error('the download host cannot be reached');
  } finally {
    child.kill('SIGKILL');
    await exit.catch(() => null);
  }
  const [largest] = files(folder).sort((a, b) => b.size - a.size);
  if (largest === undefined) throw new Error('the download brought no file');
  return largest.path;
}

/**
 * Builds the CLI with Go, into a scratch folder of its own.
 *
 * @param go path of the Go command; null when there is none
 * @returns the path of the executable
 * @throws Error with Go's own last words when it fails
 */
export async function buildWithGo(
  scratch: string,
  version: string,
  go: string | null,
  options: FetchOptions,
): Promise<string> {
  if (go === null) throw new Error('there is no `go` on PATH');
  const { onProgress, signal, env } = options;
  const bin = join(scratch, 'bin');
  mkdirSync(bin);
  onProgress(`Building the Temporal CLI ${version} with Go: 3 to 8 minutes, once`);
  const child = spawn(go, ['install', '-v', `github.com/temporalio/cli/cmd/temporal@${version}`], {
    env: { ...env, GOBIN: bin, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
    windowsHide: true,
  });
  const started = Date.now();
  const seen = { downloaded: 0, compiled: 0, last: [] as string[] };
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.startsWith('go: downloading')) seen.downloaded += 1;
    else if (/^[\w./-]+$/.test(line)) seen.compiled += 1;
    seen.last = [...seen.last.slice(-4), line];
  });
  const teller = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1000);
    onProgress(
      `Building the Temporal CLI with Go: ${seen.downloaded} modules fetched, ${seen.compiled} packages compiled, ${seconds} s`,
    );
  }, TELL_EVERY_MS);
  const exit = exitOf(child);
  const deadline = sleep(BUILD_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error('the build took too long');
  });
  try {
    const code = await Promise.race([exit, deadline, aborted(signal)]);
    if (code !== 0) throw new Error(seen.last.join(' | ') || `Go ended with status ${code}`);
  } finally {
    clearInterval(teller);
    child.kill('SIGTERM');
    await exit.catch(() => null);
  }
  return join(bin, process.platform === 'win32' ? 'temporal.exe' : 'temporal');
}

/** Rejects when the folder has not grown for a while; it never resolves. */
async function watchDownload(child: ChildProcess, folder: string, options: FetchOptions): Promise<never> {
  const stallMs = options.downloadStallMs ?? DOWNLOAD_STALL_MS;
  let [size, grownAt, toldAt] = [0, Date.now(), Date.now()];
  while (child.exitCode === null && child.signalCode === null) {
    await sleep(250, undefined, { ref: false });
    const now = files(folder).reduce((sum, file) => sum + file.size, 0);
    if (now > size) [size, grownAt] = [now, Date.now()];
    if (Date.now() - grownAt > stallMs) throw new Error('the download host does not answer');
    if (size > 0 && Date.now() - toldAt > TELL_EVERY_MS) {
      toldAt = Date.now();
      options.onProgress(`Downloading the Temporal CLI: ${Math.round(size / 1_000_000)} MB`);
    }
  }
  return new Promise(() => undefined);
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function files(folder: string): { path: string; size: number }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() ? [{ path, size: stat.size }] : [];
  });
}

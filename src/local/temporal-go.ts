import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { anySignal } from '../pause.ts';
import { runCommand } from './commands.ts';
import { findOnPath } from './executables.ts';
import { type FetchOptions, TELL_EVERY_MS } from './temporal-fetch-limits.ts';

/** A build on a slow machine takes minutes; one that takes this long hangs. */
const BUILD_TIMEOUT_MS = 20 * 60_000;

/**
 * Builds a release of the CLI with Go, which checks all sources against its checksum database.
 *
 * @param scratch an existing empty folder
 * @param version such as v1.5.1
 * @returns the path of the executable
 * @throws Error with Go's own last words when it fails
 */
export async function buildWithGo(scratch: string, version: string, options: FetchOptions): Promise<string> {
  const { onProgress, signal, env } = options;
  // Go's own installer leaves it to the user to put its folder on PATH.
  const go = findOnPath('go', env) ?? findOnPath('go', { PATH: '/usr/local/go/bin' });
  if (go === null) throw new Error('there is no `go` on PATH');
  const bin = join(scratch, 'bin');
  mkdirSync(bin);
  onProgress(`Building the Temporal CLI ${version} with Go: 3 to 10 minutes, once`);
  const started = Date.now();
  const seen = { downloaded: 0, compiled: 0 };
  const teller = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1000);
    onProgress(
      `Building the Temporal CLI with Go: ${seen.downloaded} modules fetched, ${seen.compiled} packages compiled, ${seconds} s`,
    );
  }, TELL_EVERY_MS);
  const tooLong = new AbortController();
  const deadline = setTimeout(() => tooLong.abort(new Error('the build took too long')), BUILD_TIMEOUT_MS);
  try {
    await runCommand(go, ['install', '-v', `github.com/temporalio/cli/cmd/temporal@${version}`], {
      env: { ...env, GOBIN: bin, CGO_ENABLED: '0' },
      cwd: scratch,
      signal: anySignal(tooLong.signal, signal),
      onLine(line) {
        if (line.startsWith('go: downloading')) seen.downloaded += 1;
        else if (/^[\w./-]+$/.test(line)) seen.compiled += 1;
      },
    });
  } finally {
    clearInterval(teller);
    clearTimeout(deadline);
  }
  return join(bin, 'temporal');
}

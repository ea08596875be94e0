import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readIfPresent } from '../files.ts';

/** A user of this machine, by uid and gid. */
export type Account = { uid: number; gid: number };

/** Arguments for `spawn`. */
export type Invocation = { command: string; args: string[]; uid?: number; gid?: number };

/** How a command is to be run. */
export type LaunchOptions = {
  /** The user to run as, which needs root; null for the current user. */
  account: Account | null;
  /** Files and folders that the command needs. */
  paths: readonly string[];
  /** Interrupt the command when this process dies (Linux only). */
  dieWithParent: boolean;
};

/** The account for Postgres, which refuses to run as root; null unless the current user is root. */
export function unprivilegedAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  const passwd = readIfPresent('/etc/passwd') ?? '';
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = (passwd.split('\n').find((line) => line.startsWith(`${name}:`)) ?? '').split(':');
    if (uid !== undefined && gid !== undefined && Number(uid) > 0)
      return { uid: Number(uid), gid: Number(gid) };
  }
  return { uid: 65534, gid: 65534 };
}

/**
 * Decides how to run a command as another user. In a checkout that only root may enter (/root, a `mktemp -d`), the command
 * keeps one capability, to read and pass through folders.
 *
 * @throws Error naming the closed folder when that is not possible
 */
export function invocation(command: string, args: readonly string[], options: LaunchOptions): Invocation {
  const { account } = options;
  const closed = account === null ? null : closedPath(command, options.paths);
  const capability = closed === null ? null : passingCapability(closed === command);
  const flags: string[] = [];
  if (options.dieWithParent && hasSetpriv()) flags.push('--pdeathsig', 'INT');
  if (account !== null && closed !== null) {
    if (capability === null || !hasSetpriv()) {
      throw new Error(
        `Postgres does not run as root, and the user it runs as instead (uid ${account.uid}) may not pass ${closed}. ` +
          'Open it (chmod o+rx), move the checkout and DATA_DIR elsewhere, install setpriv (util-linux), ' +
          'start as an ordinary user, or set DATABASE_URL to a Postgres of your own.',
      );
    }
    flags.push(`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups');
    // Without it access(2), which Postgres uses to check its programs, ignores the capability.
    flags.push('--securebits=+no_setuid_fixup');
    flags.push(`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`);
    return setpriv(flags, command, args);
  }
  const plain = flags.length === 0 ? { command, args: [...args] } : setpriv(flags, command, args);
  return account === null ? plain : { ...plain, ...account };
}

function setpriv(flags: readonly string[], command: string, args: readonly string[]): Invocation {
  return { command: 'setpriv', args: [...flags, '--', command, ...args] };
}

/** The first folder on a path that others may not enter, or the command if they may not run it; null if none. */
function closedPath(command: string, paths: readonly string[]): string | null {
  if ((statSync(command).mode & 0o005) !== 0o005) return command;
  for (const path of [command, ...paths]) {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      if ((statSync(folder).mode & 0o001) === 0) return folder;
      if (dirname(folder) === folder) break;
    }
  }
  return null;
}

/**
 * capabilities(7): dac_read_search (2) allows passing folders and reading files. Running a file that is closed to others
 * needs the wider dac_override (1), which containers have by default even without the first.
 */
function passingCapability(mustRunClosedFile: boolean): 'dac_read_search' | 'dac_override' | null {
  if (process.platform !== 'linux') return null;
  const held = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const bits = BigInt(`0x${held}`);
  if (!mustRunClosedFile && (bits >> 2n) & 1n) return 'dac_read_search';
  return (bits >> 1n) & 1n ? 'dac_override' : null;
}

let setprivIsUsable: boolean | undefined;

/** Checks the help text, because Busybox's setpriv lacks the options needed here. */
function hasSetpriv(): boolean {
  if (setprivIsUsable === undefined) {
    const help =
      process.platform === 'linux' ? spawnSync('setpriv', ['--help'], { encoding: 'utf8' }).stdout : '';
    setprivIsUsable = ['--reuid', '--ambient-caps', '--securebits', '--pdeathsig'].every((option) =>
      help?.includes(option),
    );
  }
  return setprivIsUsable;
}

import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readIfPresent } from '../files.ts';

/** A user of this machine, by numbers. */
export type Account = { uid: number; gid: number };

/** Arguments for `spawn` so that a command runs as wanted. */
export type Invocation = { command: string; args: string[]; uid?: number; gid?: number };

/** How a command is to be run. */
export type LaunchOptions = {
  /** The user to become; only root can. Null runs the command as the present user. */
  account: Account | null;
  /** Files and folders the command has to reach. */
  paths: readonly string[];
  /** Have the system interrupt the command when this process dies, where the system can (Linux). */
  dieWithParent: boolean;
};

/** Postgres refuses to run as root: then it runs as this account. Null when the present user is fine. */
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
 * Decides how to run a command. A checkout below a folder that only root may enter (/root, a `mktemp -d`) is closed
 * to the account: then the command keeps one capability, to read and pass through folders, and nothing else of root.
 *
 * @throws Error naming the closed folder when neither way is open
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
    // Else access(2), by which Postgres checks its own programs, would still answer as if it had no capability.
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

/** The first folder on the way that others may not enter, or the command if they may not run it; null if none is. */
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
 * capabilities(7): dac_read_search (2) passes folders and reads files; running a file that is closed to others takes
 * the wider dac_override (1), which is also what containers have by default when they lack the first.
 */
function passingCapability(mustRunClosedFile: boolean): 'dac_read_search' | 'dac_override' | null {
  if (process.platform !== 'linux') return null;
  const held = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const bits = BigInt(`0x${held}`);
  if (!mustRunClosedFile && (bits >> 2n) & 1n) return 'dac_read_search';
  return (bits >> 1n) & 1n ? 'dac_override' : null;
}

let setprivIsUsable: boolean | undefined;

/** Busybox has a setpriv without the options needed here, so its help decides. */
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

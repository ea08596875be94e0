import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join, parse } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from '../error-text.ts';
import { readIfPresent, writeSecretFile } from '../files.ts';
import { engineEnvironment, type Progress } from './engine.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { type Account, invocation, unprivilegedAccount } from './privileges.ts';
import { commandLine, endProcess, findProcessesIn, identifyProcess } from './process-identity.ts';

/** Kept inside the cluster, so that neither is ever there without the other. */
const PASSWORD_FILE = 'superuser-password';

const DRAFT = 'postgres.new-';

/** Fast shutdown first (open transactions are rolled back), then an immediate one, then the kernel. */
export const POSTGRES_END = [
  { signal: 'SIGINT', waitMs: 20_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

/** What belongs to a server that is gone has nothing left to finish. */
const ORPHAN_END = [
  { signal: 'SIGQUIT', waitMs: 1_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

/** A database cluster on disk. */
export type Cluster = {
  folder: string;
  password: string;
  /** Who owns the files and runs the server; null is the present user. */
  account: Account | null;
};

/**
 * Opens the cluster in `<dataDir>/postgres`, creating it when there is none. It is created next to its place and moved there
 * when complete: an interrupted start leaves nothing half done.
 */
export async function openCluster(
  binaries: PostgresBinaries,
  dataDir: string,
  options: { durable: boolean; onProgress: Progress },
): Promise<Cluster> {
  const folder = join(dataDir, 'postgres');
  if (readIfPresent(join(folder, 'PG_VERSION')) === null) {
    options.onProgress('Creating the database files (first start only)');
    await initialise(binaries, dataDir, folder, options);
  }
  const password = readIfPresent(join(folder, PASSWORD_FILE));
  if (password === null) {
    throw new Error(
      `${join(folder, PASSWORD_FILE)} is missing: it holds the password of the embedded database. ` +
        'Put it back, or move the folder away to start with an empty database.',
    );
  }
  const account = accountOf(folder);
  return { folder: realpathSync(folder), password: password.trim(), account };
}

async function initialise(
  binaries: PostgresBinaries,
  dataDir: string,
  folder: string,
  options: { durable: boolean },
): Promise<void> {
  const account = unprivilegedAccount();
  const password = randomBytes(24).toString('base64url');
  removeDrafts(dataDir);
  // A unique name: the initdb of a killed start may still be running.
  const draft = mkdtempSync(join(dataDir, DRAFT));
  const passwordFile = `${draft}.password`;
  writeSecretFile(passwordFile, password);
  if (account !== null) {
    for (const path of [draft, passwordFile]) chownSync(path, account.uid, account.gid);
  }
  try {
    const args = ['-D', draft, '--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
    // Spelled out, because the defaults follow LANG: without it the encoding would be SQL_ASCII.
    args.push('--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C');
    if (!options.durable) args.push('--no-sync');
    const paths = [join(binaries.root, 'lib', 'any'), draft, passwordFile];
    const call = invocation(binaries.initdb, args, { account, paths, dieWithParent: true });
    const { command, args: rest, ...ids } = call;
    await promisify(execFile)(command, rest, { ...ids, cwd: parse(draft).root, env: engineEnvironment() });
    writeSecretFile(join(draft, PASSWORD_FILE), password);
    renameSync(draft, folder);
  } catch (cause) {
    removeDrafts(dataDir);
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : '';
    throw new Error(`The embedded database cannot be created in ${folder}. ${said || String(cause)}`, {
      cause,
    });
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Removes what interrupted starts left behind. What cannot be removed now does no harm. */
function removeDrafts(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith(DRAFT)) continue;
    try {
      rmSync(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      if (errorCode(error) !== 'ENOTEMPTY') throw error;
    }
  }
}

/** The server runs as the owner of the files. Files of root (such as a copy made by root) are given away first. */
function accountOf(folder: string): Account | null {
  const fallback = unprivilegedAccount();
  if (fallback === null) return null;
  const { uid, gid } = statSync(folder);
  if (uid !== 0) return { uid, gid };
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, entry), fallback.uid, fallback.gid);
  }
  chownSync(folder, fallback.uid, fallback.gid);
  return fallback;
}

/**
 * Deals with what an earlier server left, before a new one starts on the same files. A server of these files that
 * still runs (its owner died before writing it down) is ended. A number in postmaster.pid that now belongs to
 * another process would make Postgres refuse to start: the file is removed. In all other cases Postgres decides.
 */
export async function clearServerRemains(folder: string): Promise<void> {
  await endServer(folder);
  await endOrphans(folder);
}

async function endServer(folder: string): Promise<void> {
  const file = join(folder, 'postmaster.pid');
  const pid = Number(readIfPresent(file)?.split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 0) return;
  const identity = identifyProcess(pid);
  const command = identity === null ? null : commandLine(pid);
  if (identity !== null && command === null) return;
  if (identity !== null && command?.includes(realpathSync(folder))) {
    await endProcess(identity, POSTGRES_END);
  } else if (numberIsTaken(pid)) {
    rmSync(file, { force: true });
  }
}

/**
 * Ends the children of a server that was killed. Each notices on its own, but only when its statement is over, and
 * until then its shared memory keeps the next server from starting. Elsewhere than on Linux they are waited for.
 */
async function endOrphans(folder: string): Promise<void> {
  const inFolder = findProcessesIn(realpathSync(folder));
  const known = new Set(inFolder.map(({ identity }) => identity.pid));
  const orphans = inFolder.filter(
    ({ identity, parent }) => !known.has(parent) && commandLine(identity.pid)?.startsWith('postgres: '),
  );
  await Promise.all(orphans.map(({ identity }) => endProcess(identity, ORPHAN_END)));
}

/** True for another live process and for a zombie alike: Postgres takes both for its predecessor. */
function numberIsTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

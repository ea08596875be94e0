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

/** Inside the cluster, so that neither exists without the other. */
const PASSWORD_FILE = 'superuser-password';

const DRAFT = 'postgres.new-';

/** Fast shutdown (open transactions are rolled back), then immediate shutdown, then SIGKILL. */
export const POSTGRES_END = [
  { signal: 'SIGINT', waitMs: 20_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

/** Orphaned children have nothing to finish. */
const ORPHAN_END = [
  { signal: 'SIGQUIT', waitMs: 1_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

/** A database cluster on disk. */
export type Cluster = {
  folder: string;
  password: string;
  /** The user that owns the files and runs the server; null for the current user. */
  account: Account | null;
};

/**
 * Opens the cluster in `<dataDir>/postgres`, or creates it. It is created in a draft folder and moved when complete, so
 * that an interrupted start leaves no partial cluster.
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
  // Unique: the initdb of a killed start may still be running.
  const draft = mkdtempSync(join(dataDir, DRAFT));
  const passwordFile = `${draft}.password`;
  writeSecretFile(passwordFile, password);
  if (account !== null) {
    for (const path of [draft, passwordFile]) chownSync(path, account.uid, account.gid);
  }
  try {
    const args = ['-D', draft, '--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
    // Explicit, because the defaults depend on LANG: without it the encoding would be SQL_ASCII.
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

/** Removes drafts of interrupted starts, as far as possible. */
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

/** The server runs as the owner of the files. Root's files (such as a copy by root) change owner first. */
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
 * Cleans up after an earlier server on the same files. A server that still runs (its owner died before recording it) is
 * ended. A postmaster.pid with the number of an unrelated process is removed, because Postgres would refuse to start.
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
 * Ends the children of a killed server. They would end only after their statement, and until then their shared memory
 * blocks the next server. On other systems than Linux they are awaited.
 */
async function endOrphans(folder: string): Promise<void> {
  const inFolder = findProcessesIn(realpathSync(folder));
  const known = new Set(inFolder.map(({ identity }) => identity.pid));
  const orphans = inFolder.filter(
    ({ identity, parent }) => !known.has(parent) && commandLine(identity.pid)?.startsWith('postgres: '),
  );
  await Promise.all(orphans.map(({ identity }) => endProcess(identity, ORPHAN_END)));
}

/** True for a live process or a zombie: Postgres takes both for its predecessor. */
function numberIsTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

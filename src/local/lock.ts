import { randomUUID } from 'node:crypto';
import { linkSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { errorCode } from '../error-text.ts';
import { readIfPresent } from '../files.ts';
import { isAlive, ownIdentity, processIdentitySchema } from './process-identity.ts';

const holderSchema = processIdentitySchema.extend({ token: z.uuid(), purpose: z.string() });

const REMAINS_AGE_MS = 60_000;

/** The holder of a lock file, and its purpose. */
export type LockHolder = z.infer<typeof holderSchema>;

/** A lock that is held until it is released or its process ends. */
export type Lock = { release(): void };

export type LockAttempt = { lock: Lock } | { heldBy: LockHolder };

/**
 * Tries once to take an exclusive lock file. The file is created with its contents in one step (a hard link), so it always
 * names its holder. The lock of a dead process is taken over; a second lock, named after the dead holder's token, ensures
 * that only one process does.
 *
 * @param path the lock file, in an existing folder
 * @param purpose a word that is shown to refused processes
 */
export function tryLock(path: string, purpose: string): LockAttempt {
  const holder: LockHolder = { ...ownIdentity(), token: randomUUID(), purpose };
  const draft = `${path}.${holder.token}.tmp`;
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
  try {
    for (;;) {
      if (link(draft, path)) {
        removeRemains(path);
        return { lock: lockOf(path, holder) };
      }
      const current = readHolder(path);
      if (current === 'none') continue;
      if (current !== 'unreadable' && isAlive(current)) return { heldBy: current };
      const token = current === 'unreadable' ? current : current.token;
      const takeover = tryLock(`${path}.${token}`, purpose);
      if ('heldBy' in takeover) return takeover;
      try {
        if (tokenOf(readHolder(path)) !== token) continue;
        renameSync(draft, path);
        removeRemains(path);
        return { lock: lockOf(path, holder) };
      } finally {
        takeover.lock.release();
      }
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Options of `waitForLock`. */
export type LockWait = {
  timeoutMs: number;
  /** Called after each failed attempt; false ends the wait. */
  keepWaiting?: (holder: LockHolder) => boolean;
  signal?: AbortSignal | undefined;
};

/** `tryLock` with retries while another process holds the lock. */
export async function waitForLock(path: string, purpose: string, wait: LockWait): Promise<LockAttempt> {
  const deadline = Date.now() + wait.timeoutMs;
  for (;;) {
    wait.signal?.throwIfAborted();
    const attempt = tryLock(path, purpose);
    if ('lock' in attempt || Date.now() > deadline || wait.keepWaiting?.(attempt.heldBy) === false)
      return attempt;
    await sleep(100);
  }
}

function lockOf(path: string, holder: LockHolder): Lock {
  return {
    release() {
      if (tokenOf(readHolder(path)) === holder.token) rmSync(path, { force: true });
    },
  };
}

/** Removes drafts and takeover locks of killed processes; live ones exist for milliseconds. */
function removeRemains(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(prefix)) continue;
    const file = join(dirname(path), name);
    const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changed > REMAINS_AGE_MS) rmSync(file, { force: true });
  }
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** 'unreadable' for a lock file that lost its text in a power failure; it counts as left behind. */
function readHolder(path: string): LockHolder | 'none' | 'unreadable' {
  const text = readIfPresent(path);
  if (text === null) return 'none';
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return 'unreadable';
  }
}

function tokenOf(holder: LockHolder | 'none' | 'unreadable'): string {
  return typeof holder === 'string' ? holder : holder.token;
}

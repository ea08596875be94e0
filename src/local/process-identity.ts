import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { errorCode } from '../error-text.ts';

/**
 * Identifies a process even after its number is reused. `startedAt` is opaque: boot id and clock ticks since boot on
 * Linux, the operating system's start time elsewhere.
 */
export const processIdentitySchema = z.object({ pid: z.int().positive(), startedAt: z.string().min(1) });
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;

/** One step of ending a process: a signal, and the wait after it in milliseconds. */
export type EndStep = { signal: NodeJS.Signals; waitMs: number };

/** Identifies the live process with this number; null for none or a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const startedAt = startTime(pid);
  return startedAt === null ? null : { pid, startedAt };
}

/** The identity of the running process itself. */
export function ownIdentity(): ProcessIdentity {
  const identity = identifyProcess(process.pid);
  if (identity === null) throw new Error('The start time of this process cannot be read.');
  return identity;
}

/** Whether this process still runs, and not another one with its number. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

/**
 * Ends a process with the given signals in turn. Does nothing when it is gone or its number was reused.
 *
 * @throws Error when the process survives the last step
 */
export async function endProcess(identity: ProcessIdentity, steps: readonly EndStep[]): Promise<void> {
  for (const { signal, waitMs } of steps) {
    if (!isAlive(identity)) return;
    sendSignal(identity.pid, signal);
    const deadline = Date.now() + waitMs;
    while (Date.now() < deadline) {
      if (!isAlive(identity)) return;
      await sleep(20);
    }
  }
  if (isAlive(identity)) throw new Error(`Process ${identity.pid} did not end.`);
}

/** The command line of a process, arguments separated by spaces; null where it cannot be read. */
export function commandLine(pid: number): string | null {
  try {
    if (process.platform === 'linux') {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    }
    return run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
  } catch {
    return null;
  }
}

/** Finds processes by a part of their command line, its arguments joined by single spaces. */
export function findProcesses(part: string): ProcessIdentity[] {
  return commandLines()
    .filter(({ pid, command }) => pid !== process.pid && command.includes(part))
    .map(({ pid }) => identifyProcess(pid))
    .filter((identity) => identity !== null);
}

/** Finds the processes with this working folder, and their parents' numbers; Linux only, elsewhere none. */
export function findProcessesIn(folder: string): { identity: ProcessIdentity; parent: number }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && workingFolder(pid) === folder)
    .map((pid) => ({ identity: identifyProcess(pid), parent: Number(statFields(pid)?.[1]) }))
    .filter((found): found is { identity: ProcessIdentity; parent: number } => found.identity !== null);
}

function workingFolder(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function commandLines(): { pid: number; command: string }[] {
  if (process.platform === 'linux') {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    return pids.map((pid) => ({ pid, command: commandLine(pid) ?? '' }));
  }
  const lines = run('ps', ['-axww', '-o', 'pid=,command=']).split('\n');
  return lines.map((line) => ({ pid: Number.parseInt(line, 10), command: line }));
}

function startTime(pid: number): string | null {
  try {
    return process.platform === 'linux' ? linuxStartTime(pid) : unixStartTime(pid);
  } catch {
    return null;
  }
}

/** The fields of proc(5) stat from field 3 on, after the command name; null when the process is gone. */
function statFields(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** State is field 3, parent number field 4, start time field 22. */
function linuxStartTime(pid: number): string | null {
  const fields = statFields(pid) ?? [];
  const [state, ticks] = [fields[0], fields[19]];
  if (state === undefined || 'ZX'.includes(state) || ticks === undefined) return null;
  return `${bootId()}:${ticks}`;
}

function unixStartTime(pid: number): string | null {
  const output = run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
  const [state = '', ...started] = output.split(/\s+/);
  return state === '' || state.startsWith('Z') ? null : started.join(' ');
}

/** Distinguishes boots: after a reboot the same number can start at the same tick. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'boot';
  }
}

function run(command: string, args: string[]): string {
  return execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, LC_ALL: 'C' },
  }).trim();
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

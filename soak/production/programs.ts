import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';

/** A program that runs until it is told to stop; its output goes to a file. */
export interface Program {
  readonly pid: number;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** The last 4,000 characters that it wrote. */
  readonly log: () => string;
  kill(signal: NodeJS.Signals): void;
}

const running = new Set<ChildProcess>();
// None is left behind when the script itself is ended.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Keeps what a process writes and how it ends. */
export function watch(child: ChildProcess, logFile: string): Program {
  running.add(child);
  const file = createWriteStream(logFile, { flags: 'a' });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4_000);
      file.write(chunk);
    });
  }
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      running.delete(child);
      file.end();
      resolve(signal ?? code);
    });
  });
  ended.catch(() => undefined);
  return { pid: child.pid ?? 0, ended, log: () => log, kill: (signal) => child.kill(signal) };
}

/** Starts a command with exactly this environment. */
export const startProgram = (
  [file = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  logFile: string,
  options: Pick<SpawnOptions, 'cwd'> = {},
): Program => watch(spawn(file, args, { ...options, env, stdio: ['ignore', 'pipe', 'pipe'] }), logFile);

/**
 * Waits for a program to end well.
 * @throws with what it wrote last when its status is not 0
 */
export async function completed(name: string, program: Program): Promise<void> {
  const status = await program.ended;
  if (status !== 0) throw new Error(`${name} ended with ${status}:\n${program.log()}`);
}

/** Ends a program by SIGTERM, and by SIGKILL when that took too long; returns how it ended. */
export async function stopProgram(
  program: Program,
  waitMs = 85_000,
): Promise<number | NodeJS.Signals | null> {
  program.kill('SIGTERM');
  const timer = setTimeout(() => program.kill('SIGKILL'), waitMs);
  try {
    return await program.ended;
  } finally {
    clearTimeout(timer);
  }
}

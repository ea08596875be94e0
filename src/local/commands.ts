import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Grace period of an aborted command before it is killed, in milliseconds. */
const END_MS = 5_000;

export type CommandOptions = {
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Ends the command; `runCommand` throws its reason. */
  signal: AbortSignal;
};

/**
 * Runs a command until it ends and discards its standard output.
 *
 * @throws Error with its last words when it fails, or the signal's reason
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<void> {
  const { env, cwd, signal } = options;
  signal.throwIfAborted();
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let last: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.trim() !== '') last = [...last.slice(-4), line.trim()];
  });
  let kill: NodeJS.Timeout | undefined;
  const end = () => {
    child.kill('SIGTERM');
    // Child processes could keep the pipe open.
    child.stderr.destroy();
    kill = setTimeout(() => child.kill('SIGKILL'), END_MS);
  };
  signal.addEventListener('abort', end, { once: true });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    signal.throwIfAborted();
    if (code !== 0) throw new Error(last.join(' | ') || `${command} ended with status ${code}`);
  } finally {
    clearTimeout(kill);
    signal.removeEventListener('abort', end);
  }
}

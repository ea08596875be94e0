import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Child {
  /** What the child sent first: where it listens. */
  readonly url: string;
  /** CPU time it has used so far, in microseconds. */
  cpuTime(): Promise<number>;
  stop(): Promise<void>;
}

/** Called by the child when it is ready: sends its URL, then its CPU time on each request. */
export function announce(url: string, stop: () => Promise<void>): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.once('SIGTERM', () => void stop().then(() => process.exit(0)));
  process.send?.(url);
}

/**
 * Runs a file as a process of its own and waits for the URL it announces. Discards its log.
 */
export async function startChild(file: URL, env: Readonly<Record<string, string>>): Promise<Child> {
  const child = spawn(process.execPath, [fileURLToPath(file)], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'ignore', process.env.BENCH_STDERR === undefined ? 'ignore' : 'inherit', 'ipc'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(String(message)));
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`${file.pathname} ended with ${code} before it was there`)),
    );
  });
  return {
    url,
    cpuTime: () =>
      new Promise((resolve) => {
        child.once('message', (message) => resolve(Number(message)));
        child.send('cpu');
      }),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ServiceProcess {
  readonly pid: number;
  /** Everything it wrote to stderr so far. */
  readonly log: () => string;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** What a process of ours has of this one's environment. */
export const bareEnvironment = (): NodeJS.ProcessEnv => {
  const { PATH, HOME, NODE_COMPILE_CACHE, TEMPORAL_DEBUG } = process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE, TEMPORAL_DEBUG };
};

/** Lets the workflows of a worker run in threads, as in production; those of other tests run on its main thread. */
export const WITH_THREADS = { TEMPORAL_DEBUG: '0' };

const root = fileURLToPath(new URL('../..', import.meta.url));
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts `server.ts` or `worker.ts` as a process of its own and waits until it says that it is there. */
export async function startProcess(
  file: 'server.ts' | 'worker.ts',
  env: Record<string, string>,
): Promise<ServiceProcess> {
  // As the image starts it.
  const options = file === 'server.ts' ? ['--max-old-space-size=384', '--max-semi-space-size=8'] : [];
  const child = spawn(process.execPath, [...options, file], {
    cwd: root,
    env: { ...bareEnvironment(), ...env, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running.add(child);
  let log = '';
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('exit', (code, signal) => {
      running.delete(child);
      resolve(signal ?? code);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (/"msg":"(listening on|worker started)/.test(log)) resolve();
    });
    child.on('exit', () => reject(new Error(`${file} ended before it was there:\n${log}`)));
  });
  return { pid: child.pid ?? 0, log: () => log, kill: (signal) => child.kill(signal), ended };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...ownEnvironment } = process.env;

/** `npm start` or the demo, as a process of its own. */
export interface Launched {
  readonly child: ChildProcess;
  /** Everything written so far, stdout and stderr. */
  readonly output: () => string;
  /** Resolves with the exit status; null after a kill. */
  readonly ended: Promise<number | null>;
}

/** Starts a script, such as src/local/main.ts, with engines of its own, on a free port; `env` replaces variables. */
export function launch(script: string, env: Record<string, string>, ...args: string[]): Launched {
  const path = fileURLToPath(new URL(`../../${script}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], {
    env: { ...ownEnvironment, PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (data: string) => {
      text += data;
    });
  }
  return {
    child,
    output: () => text,
    ended: new Promise((resolve) => child.once('close', resolve)),
  };
}

/** Waits until a start has announced itself, and answers where its API is. */
export async function ready(start: Launched): Promise<string> {
  let over = false;
  void start.ended.then(() => {
    over = true;
  });
  while (!start.output().includes('Ctrl-C stops everything')) {
    if (over) throw new Error(`it ended before it was ready: ${start.output()}`);
    await sleep(50);
  }
  return /API\s+(http:\S+)/.exec(start.output())?.[1] ?? '';
}

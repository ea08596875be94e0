import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startProcess } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

/** Runs an entry point until it says `line`, sends SIGTERM then, and returns its status and what it wrote. */
async function run(file: string, env: Record<string, string>, line?: RegExp) {
  const child = spawn(process.execPath, [file], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  let told = false;
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
    if (told || line === undefined || !line.test(log)) return;
    told = true;
    child.kill('SIGTERM');
  });
  const [code] = await once(child, 'exit');
  return { code, log };
}

it('server and worker stop in order on SIGTERM and end with status 0', async () => {
  for (const file of ['server.ts', 'worker.ts'] as const) {
    const running = await startProcess(file, { ...service.env, PORT: '0' });
    running.kill('SIGTERM');
    expect(await running.ended).toBe(0);
  }
});

it('a worker that still waits for Temporal stops on SIGTERM as well', async () => {
  const env = { ...service.env, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  expect((await run('worker.ts', env, /waiting for Temporal/)).code).toBe(0);
});

it('a bad environment stops the start with status 1 and the name of each variable, not its value', async () => {
  const { code, log } = await run('server.ts', {
    ...service.env,
    PORT: 'many',
    DATABASE_URL: 'secret-looking-nonsense',
    WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/99',
  });
  expect(code).toBe(1);
  expect(log).toMatch(/DATABASE_URL:/);
  expect(log).toMatch(/PORT:/);
  expect(log).toMatch(/WEBHOOK_ALLOWED_NETWORKS:/);
  expect(log).not.toContain('secret-looking-nonsense');
});

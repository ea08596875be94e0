import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, inject, onTestFinished, test } from 'vitest';
import { identifyProcess } from '../../src/local/processes.ts';
import { createTestDatabase } from '../support/database.ts';
import { endEnginesAfterTest, enginePids, temporaryFolder } from './helpers.ts';

const KEY = /wcsk_[0-9A-Za-z]{49}/;
const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...ownEnvironment } = process.env;

interface Launched {
  readonly child: ChildProcess;
  /** Everything written so far, stdout and stderr. */
  readonly output: () => string;
  /** Resolves with the exit status; null after a kill. */
  readonly ended: Promise<number | null>;
}

function launch(script: string, env: Record<string, string>, ...args: string[]): Launched {
  const path = fileURLToPath(new URL(`../../src/local/${script}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], {
    env: { ...ownEnvironment, PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
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
async function ready(start: Launched): Promise<string> {
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

const get = (url: string, key: string) => fetch(url, { headers: { authorization: `Bearer ${key}` } });

test('demo, start, a kill -9 and another start work on the same data, and the owner key is shown once', {
  timeout: 60_000,
}, async () => {
  const dataDir = join(temporaryFolder(), 'data');
  endEnginesAfterTest(dataDir);
  const env = { DATA_DIR: dataDir };

  const demo = launch('demo/main.ts', env, '--exit');
  expect(await demo.ended, demo.output()).toBe(0);
  expect(demo.output()).toContain('pseudo-localisation: no model was called');
  const demoKey = KEY.exec(demo.output())?.[0] ?? '';
  const article = /\/api\/articles\/[0-9a-f-]{36}/.exec(demo.output())?.[0] ?? '';

  const first = launch('main.ts', env);
  const api = await ready(first);
  const key = KEY.exec(first.output())?.[0] ?? '';
  const whoami = await get(`${api}/api/whoami`, key);
  expect(await whoami.json()).toMatchObject({ workspace: { name: 'Default' }, role: { name: 'Owner' } });
  const translated = await get(api + article, demoKey);
  expect(await translated.json()).toMatchObject({
    article: { status: 'NEEDS_REVIEW', primaryLanguage: 'es' },
  });

  const other = launch('main.ts', env);
  expect(await other.ended).toBe(1);
  expect(other.output()).toContain(`already running on ${dataDir} (process ${first.child.pid})`);

  first.child.kill('SIGKILL');
  await first.ended;
  const second = launch('main.ts', env);
  const sameData = await get(`${await ready(second)}/api/whoami`, key);
  expect(sameData.status).toBe(200);
  expect(second.output()).not.toMatch(KEY);

  const { postgres, temporal } = enginePids(dataDir);
  second.child.kill('SIGTERM');
  second.child.kill('SIGINT');
  expect(await second.ended, second.output()).toBe(0);
  for (const pid of [postgres, temporal]) expect(identifyProcess(Number(pid))).toBeNull();
});

test('a bad variable stops the start with its name before anything is made', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const start = launch('main.ts', { DATA_DIR: dataDir, PORT: 'eighty' });
  expect(await start.ended).toBe(1);
  expect(start.output()).toContain('PORT');
  expect(existsSync(dataDir)).toBe(false);
});

test('with DATABASE_URL and TEMPORAL_ADDRESS no engine is started, and a taken port is named', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const dataDir = join(temporaryFolder(), 'data');
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE_PREFIX: 'start-test-',
    WORKFLOW_BUNDLE: inject('workflowBundlePath'),
  };
  const blocker = createServer();
  onTestFinished(() => void blocker.close());
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
  const { port } = blocker.address() as AddressInfo;
  const blocked = launch('main.ts', { ...env, PORT: String(port) });
  expect(await blocked.ended).toBe(1);
  expect(blocked.output()).toContain(`PORT ${port} on 127.0.0.1 is taken`);

  const start = launch('main.ts', env);
  const health = await fetch(`${await ready(start)}/readyz`);
  expect(health.status).toBe(200);
  expect(start.output()).not.toContain('Temporal UI');
  expect(enginePids(dataDir)).toEqual({ postgres: undefined, temporal: undefined });
  start.child.kill('SIGINT');
  expect(await start.ended, start.output()).toBe(0);
});

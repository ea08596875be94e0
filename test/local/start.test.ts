import { existsSync, readFileSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, inject, type TestContext, test } from 'vitest';
import { identifyProcess } from '../../src/local/process-identity.ts';
import { createTestDatabase } from '../support/database.ts';
import { type Launched, launch as launchProcess, ready } from '../support/start.ts';
import { dataFolder, endEnginesAfterTest, enginePids } from './helpers.ts';

const KEY = /wcsk_[0-9A-Za-z]{49}/;
/** What launches processes that end with the test, whatever becomes of it. */
const launcher =
  (onEnd: TestContext['onTestFinished']) =>
  (...options: Parameters<typeof launchProcess>): Launched => {
    const start = launchProcess(...options);
    onEnd(() => void start.child.kill('SIGKILL'));
    return start;
  };

const get = (url: string, key: string) => fetch(url, { headers: { authorization: `Bearer ${key}` } });

test.concurrent('demo, start, a kill -9 and another start work on the same data, and the owner key is shown once', {
  timeout: 240_000,
}, async ({ onTestFinished }) => {
  const launch = launcher(onTestFinished);
  const dataDir = join(dataFolder(onTestFinished), 'data');
  endEnginesAfterTest(dataDir, onTestFinished);
  const env = { DATA_DIR: dataDir };

  const demo = launch('examples/demo/main.ts', env, '--exit');
  expect(await demo.ended, demo.output()).toBe(0);
  expect(demo.output()).toContain('pseudo-localisation: no model was called');
  expect(demo.output()).toContain('3 of 48 blocks changed, 1 credit: the balance is 17 now');
  expect(demo.output()).toMatch(/Written from the approved outline: 6\d\d words/);
  expect(demo.output()).toContain('consumed 6; the balance is 10 now');
  expect(demo.output()).toMatch(/\d sources .*claims checked: [1-9]/);
  expect(demo.output()).not.toMatch(/No workflows registered|connection lost/);
  const keyFile = join(dataDir, 'secrets.key');
  const secretsKey = readFileSync(keyFile, 'utf8');
  expect(secretsKey).toMatch(/^local:[A-Za-z0-9+/]{43}=\n$/);
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  const demoKey = KEY.exec(demo.output())?.[0] ?? '';
  const article = /\/api\/articles\/[0-9a-f-]{36}/.exec(demo.output())?.[0] ?? '';

  const first = launch('src/local/main.ts', env);
  const api = await ready(first);
  const key = KEY.exec(first.output())?.[0] ?? '';
  const whoami = await get(`${api}/api/whoami`, key);
  expect(await whoami.json()).toMatchObject({ workspace: { name: 'Default' }, role: { name: 'Owner' } });
  const translated = await get(api + article, demoKey);
  expect(await translated.json()).toMatchObject({
    article: { status: 'NEEDS_REVIEW', primaryLanguage: 'es' },
  });

  const other = launch('src/local/main.ts', env);
  expect(await other.ended).toBe(1);
  expect(other.output()).toContain(`already running on ${dataDir} (process ${first.child.pid})`);

  first.child.kill('SIGKILL');
  await first.ended;
  const second = launch('src/local/main.ts', { ...env, LOG_LEVEL: 'info' });
  const sameData = await get(`${await ready(second)}/api/whoami`, key);
  expect(sameData.status).toBe(200);
  expect(second.output()).not.toMatch(KEY);
  expect(second.output()).toContain('key create --help');
  for (const process of ['server', 'worker']) {
    expect(second.output()).toMatch(new RegExp(`"process":"${process}".*"msg":"metrics at`));
  }

  expect(readFileSync(keyFile, 'utf8')).toBe(secretsKey);

  const { postgres, temporal } = enginePids(dataDir);
  second.child.kill('SIGTERM');
  second.child.kill('SIGINT');
  expect(await second.ended, second.output()).toBe(0);
  expect(second.output()).not.toContain('connection lost');
  for (const pid of [postgres, temporal]) expect(identifyProcess(Number(pid))).toBeNull();
});

test.concurrent('a bad variable stops the start with its name before anything is made', async ({
  onTestFinished,
}) => {
  const launch = launcher(onTestFinished);
  const dataDir = join(dataFolder(onTestFinished), 'data');
  const start = launch('src/local/main.ts', { DATA_DIR: dataDir, PORT: 'eighty' });
  expect(await start.ended).toBe(1);
  expect(start.output()).toContain('PORT');
  expect(existsSync(dataDir)).toBe(false);
});

test.concurrent('with DATABASE_URL and TEMPORAL_ADDRESS no engine is started, and a taken port is named', async ({
  onTestFinished,
}) => {
  const launch = launcher(onTestFinished);
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const dataDir = join(dataFolder(onTestFinished), 'data');
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
  const blocked = launch('src/local/main.ts', { ...env, PORT: String(port) });
  expect(await blocked.ended).toBe(1);
  expect(blocked.output()).toContain(`PORT ${port} on 127.0.0.1 is taken`);

  const start = launch('src/local/main.ts', env);
  const health = await fetch(`${await ready(start)}/readyz`);
  expect(health.status).toBe(200);
  expect(start.output()).not.toContain('Temporal UI');
  expect(enginePids(dataDir)).toEqual({ postgres: undefined, temporal: undefined });
  start.child.kill('SIGINT');
  expect(await start.ended, start.output()).toBe(0);
});

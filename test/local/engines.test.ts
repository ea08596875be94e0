import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { findProcesses, isAlive } from '../../src/local/process-identity.ts';
import { readStackRecord, type StackRecord } from '../../src/local/stack-file.ts';
import { type Launched, launch, ready } from '../support/start.ts';
import { eventually } from '../support/wait.ts';
import { migratedFolder } from './migrated-folder.ts';

/** `npm start` on a folder, ready. It need not build the workflows once more: this is about the engines. */
async function start(dataDir: string, onEnd = onTestFinished): Promise<Launched & { url: string }> {
  const started = launch('src/local/main.ts', {
    DATA_DIR: dataDir,
    WORKFLOW_BUNDLE: inject('workflowBundlePath'),
  });
  onEnd(() => void started.child.kill('SIGKILL'));
  return { ...started, url: await ready(started) };
}

function engines(dataDir: string) {
  const record: StackRecord | null = readStackRecord(dataDir);
  if (!record?.postgres || !record.temporal) throw new Error('stack.json does not name both engines');
  return { postgres: record.postgres, temporal: record.temporal };
}

function signal(dataDir: string, engine: 'postgres' | 'temporal', name: NodeJS.Signals): void {
  process.kill(engines(dataDir)[engine].process.pid, name);
}

const untilReady = (url: string) =>
  eventually(
    () => fetch(`${url}/readyz`).catch(() => null),
    (answer) => answer?.status === 200,
    30_000,
  );

/** The servers that run on the files of a folder. */
const serversOf = (dataDir: string) => ({
  postgres: findProcesses(`-D ${join(dataDir, 'postgres')}`).length,
  temporal: findProcesses(`--db-filename ${join(dataDir, 'temporal')}`).length,
});

test('engines of an earlier start are started again as well, at the same addresses, and a crash meanwhile blocks no start', {
  timeout: 180_000,
}, async () => {
  const dataDir = await migratedFolder();
  const first = await start(dataDir);
  const before = engines(dataDir);
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await start(dataDir);
  expect(engines(dataDir)).toEqual(before);

  for (const name of ['postgres', 'temporal'] as const) signal(dataDir, name, 'SIGKILL');
  await eventually(
    async () => second.output(),
    (text) => /Postgres is back/.test(text) && /Temporal is back/.test(text),
  );
  await untilReady(second.url);
  const after = engines(dataDir);
  expect(after.postgres.databaseUrl).toBe(before.postgres.databaseUrl);
  expect(after.temporal).toMatchObject({ address: before.temporal.address, uiUrl: before.temporal.uiUrl });
  expect((await fetch(after.temporal.uiUrl ?? '')).status).toBe(200);
  for (const name of ['postgres', 'temporal'] as const) {
    expect(isAlive(before[name].process)).toBe(false);
    expect(isAlive(after[name].process)).toBe(true);
  }

  // Both engines die, and then the process itself, at some line of their restart.
  let last = second;
  for (const delay of [100, 400]) {
    for (const name of ['postgres', 'temporal'] as const) signal(dataDir, name, 'SIGKILL');
    await sleep(delay);
    last.child.kill('SIGKILL');
    await last.ended;
    last = await start(dataDir);
    await untilReady(last.url);
    expect(serversOf(dataDir)).toEqual({ postgres: 1, temporal: 1 });
  }
  last.child.kill('SIGTERM');
  expect(await last.ended, last.output()).toBe(0);
  expect(serversOf(dataDir)).toEqual({ postgres: 0, temporal: 0 });
});

test('an engine that dies three times within a minute is given up, with status 1 and nothing left running', {
  timeout: 120_000,
}, async () => {
  const dataDir = await migratedFolder();
  const started = await start(dataDir);
  for (const deaths of [1, 2, 3]) {
    signal(dataDir, 'temporal', 'SIGKILL');
    if (deaths === 3) break;
    await eventually(
      async () => started.output(),
      (text) => text.match(/Temporal is back/g)?.length === deaths,
      30_000,
    );
  }
  expect(await started.ended).toBe(1);
  expect(started.output()).toContain('Temporal has died 3 times within a minute, so it is given up.');
  expect(started.output()).toContain(join(dataDir, 'logs', 'temporal.log'));
  expect(serversOf(dataDir)).toEqual({ postgres: 0, temporal: 0 });
  expect(readStackRecord(dataDir)).toBeNull();
});

// Much of these is waiting for what has a limit.
test.concurrent('an engine whose port another process has taken meanwhile is given up, with the port named', {
  timeout: 120_000,
}, async ({ expect, onTestFinished }) => {
  const dataDir = await migratedFolder(onTestFinished);
  const started = await start(dataDir, onTestFinished);
  const port = Number(new URL(engines(dataDir).postgres.databaseUrl).port);
  started.child.kill('SIGSTOP');
  signal(dataDir, 'postgres', 'SIGKILL');
  const thief = createServer();
  onTestFinished(() => void thief.close());
  await eventually(
    () =>
      new Promise<boolean>((resolve) => {
        thief.once('error', () => resolve(false));
        thief.listen(port, '127.0.0.1', () => resolve(true));
      }),
    (listens) => listens,
  );
  started.child.kill('SIGCONT');
  expect(await started.ended).toBe(1);
  expect(started.output()).toContain(`another process has taken its port ${port}`);
});

test.concurrent.for([
  ['hang', 'SIGSTOP', 0],
  ['are dead', 'SIGKILL', 0],
  ['are being started again', 'SIGKILL', 250],
] as const)(
  'SIGTERM ends everything with status 0 while both engines %s',
  {
    timeout: 180_000,
  },
  async ([, name, delay], { expect, onTestFinished }) => {
    const dataDir = await migratedFolder(onTestFinished);
    const started = await start(dataDir, onTestFinished);
    for (const engine of ['postgres', 'temporal'] as const) signal(dataDir, engine, name);
    await sleep(delay);
    const from = performance.now();
    started.child.kill('SIGTERM');
    expect(await started.ended, started.output()).toBe(0);
    // The limit of server and worker, and that of the engines.
    expect(performance.now() - from).toBeLessThan(120_000);
    expect(serversOf(dataDir)).toEqual({ postgres: 0, temporal: 0 });
  },
);

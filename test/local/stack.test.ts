import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, onTestFinished, test } from 'vitest';
import { withEmbeddedDatabase } from '../../src/local/embedded-database.ts';
import { postgresBinaries } from '../../src/local/postgres-binaries.ts';
import { openCluster } from '../../src/local/postgres-cluster.ts';
import { identifyProcess, isAlive } from '../../src/local/process-identity.ts';
import { StackRunningError, startStack } from '../../src/local/stack.ts';
import { readStackRecord, writeStackRecord } from '../../src/local/stack-file.ts';
import { SEARCH_ATTRIBUTES } from '../../src/local/temporal-server.ts';
import { databaseUrl } from '../support/database-url.ts';
import { memoryFolder } from '../support/memory-folder.ts';
import { eventually } from '../support/wait.ts';
import {
  dataFolder,
  endEnginesAfterTest,
  enginePids,
  killHard,
  query,
  runningEngines,
  runScript,
  startOwner,
  temporaryFolder,
} from './helpers.ts';

const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...env } = process.env;

async function temporal<T>(address: string, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

test('a stack outlives the death of its owner, and the next start takes it over or starts anew without loss', {
  timeout: 60_000,
}, async () => {
  const parent = dataFolder();
  chmodSync(parent, 0o700);
  const dataDir = join(parent, '.data');
  endEnginesAfterTest(dataDir);

  const first = await startOwner(dataDir);
  await query(first.stack.databaseUrl, "CREATE TABLE note AS SELECT '日本語'::text AS body");
  const text = await query(
    first.stack.databaseUrl,
    "SELECT char_length(body) AS length, current_setting('server_encoding') AS encoding FROM note",
  );
  expect(text).toEqual([{ length: 3, encoding: 'UTF8' }]);
  expect(statSync(join(dataDir, 'stack.json')).mode & 0o777).toBe(0o600);
  await temporal(first.stack.temporalAddress, async (client) => {
    const { customAttributes } = await client.connection.operatorService.listSearchAttributes({
      namespace: 'default',
    });
    expect(Object.keys(customAttributes)).toEqual(expect.arrayContaining([...SEARCH_ATTRIBUTES]));
    await client.workflow.start('waits', { taskQueue: 'nobody-polls', workflowId: 'kept' });
  });
  expect((await fetch(first.stack.temporalUiUrl ?? '')).status).toBe(200);

  // While the owner lives, every other start is refused, in this process and in others.
  await expect(startStack({ dataDir, env })).rejects.toBeInstanceOf(StackRunningError);
  const refused = await runScript('owner.ts', dataDir).ended;
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`process ${first.child.pid}`) });

  // The owner dies: its engines go on, and belong to the next start.
  const pids = enginePids(dataDir);
  await killHard(first);
  expect(runningEngines(dataDir)).toEqual(['postgres', 'temporal']);
  const second = await startOwner(dataDir);
  expect(enginePids(dataDir)).toEqual(pids);
  expect(second.stack).toEqual(first.stack);

  // Everything dies at once, as in a power failure.
  for (const pid of Object.values(pids)) process.kill(pid ?? 0, 'SIGKILL');
  await killHard(second);
  // A process that was killed takes a moment to be gone.
  await eventually(
    async () => runningEngines(dataDir),
    (running) => running.length === 0,
  );
  const third = await startOwner(dataDir);
  expect(await query(third.stack.databaseUrl, 'SELECT body FROM note')).toEqual([{ body: '日本語' }]);
  await temporal(third.stack.temporalAddress, async (client) => {
    expect((await client.workflow.getHandle('kept').describe()).status.name).toBe('RUNNING');
  });

  // A proper end leaves no process and no stack.json behind.
  const last = readStackRecord(dataDir);
  third.child.kill('SIGTERM');
  expect((await third.ended).code).toBe(0);
  for (const engine of [last?.postgres, last?.temporal])
    expect(engine && isAlive(engine.process)).toBe(false);
  expect(existsSync(join(dataDir, 'stack.json'))).toBe(false);
  expect(existsSync(join(dataDir, 'stack.lock'))).toBe(false);
});

test('engines that nobody wrote down, and numbers that other processes have now, neither block a start nor are killed', {
  timeout: 60_000,
}, async () => {
  const dataDir = dataFolder();
  endEnginesAfterTest(dataDir);
  const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
  onTestFinished(() => void stranger.kill('SIGKILL'));
  const pid = stranger.pid ?? 0;

  // The owner dies before it could write its engines down: two of a kind on one folder would ruin it.
  const first = await startOwner(dataDir);
  const record = readStackRecord(dataDir);
  if (!record?.postgres || !record.temporal) throw new Error('stack.json names both engines');
  await killHard(first);
  rmSync(join(dataDir, 'stack.json'));
  const second = await startOwner(dataDir);
  for (const engine of [record.postgres, record.temporal]) expect(isAlive(engine.process)).toBe(false);

  // After a reboot, the numbers on record can be anybody's.
  const pids = enginePids(dataDir);
  await killHard(second);
  for (const engine of Object.values(pids)) process.kill(engine ?? 0, 'SIGKILL');
  const recycled = { pid, startedAt: record.postgres.process.startedAt };
  writeStackRecord(dataDir, {
    ...record,
    postgres: { ...record.postgres, process: recycled },
    temporal: { ...record.temporal, process: recycled },
  });
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  writeFileSync(file, readFileSync(file, 'utf8').replace(String(pids.postgres), String(pid)));
  const third = await startOwner(dataDir);
  expect(await query(third.stack.databaseUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(identifyProcess(pid)).not.toBeNull();
  third.child.kill('SIGTERM');
  expect((await third.ended).code).toBe(0);
  expect(identifyProcess(pid)).not.toBeNull();
});

test('of starts at the same moment exactly one wins, and stacks on different folders do not disturb each other', {
  timeout: 60_000,
}, async () => {
  const dataDir = dataFolder();
  endEnginesAfterTest(dataDir);
  const throwAway = await startStack({ ephemeral: true, dataDir: memoryFolder(), env });
  onTestFinished(() => throwAway.stop());
  const starts = [1, 2, 3].map(() => runScript('owner.ts', dataDir));
  const winner = await Promise.any(starts.map((start) => start.firstLine.then(() => start)));
  const losers = await Promise.all(starts.filter((start) => start !== winner).map((start) => start.ended));
  expect(losers.map((loser) => loser.code)).toEqual([1, 1]);
  for (const loser of losers) expect(loser.stderr).toContain('StackRunningError');

  // An admin command works on the running stack, and on the same folder when the stack has ended.
  const count = (databaseUrl: string) => query(databaseUrl, 'SELECT count(*)::int AS notes FROM note');
  await withEmbeddedDatabase(dataDir, (url) => query(url, 'CREATE TABLE note (body text)'));
  await expect(query(throwAway.databaseUrl, 'SELECT * FROM note')).rejects.toThrow(/does not exist/);
  expect(throwAway.temporalUiUrl).toBeNull();
  winner.child.kill('SIGTERM');
  await winner.ended;
  const commands = [1, 2].map(() => withEmbeddedDatabase(dataDir, count));
  expect(await Promise.all(commands)).toEqual([[{ notes: 0 }], [{ notes: 0 }]]);
  expect(runningEngines(dataDir)).toEqual([]);
  await expect(
    withEmbeddedDatabase(dataDir, async () => Promise.reject(new Error('as it is'))),
  ).rejects.toThrow('as it is');
  expect(existsSync(join(dataDir, 'stack.lock'))).toBe(false);

  await temporal(throwAway.temporalAddress, (client) => client.workflowService.getSystemInfo({}));
});

test('engines that the environment names are used and left alone', {
  timeout: 60_000,
}, async () => {
  const dataDir = dataFolder();
  // Those of the whole run.
  const theirs = { databaseUrl: inject('serverUrl'), temporalAddress: inject('temporalAddress') };
  const named = { DATABASE_URL: theirs.databaseUrl, TEMPORAL_ADDRESS: theirs.temporalAddress };
  const external = await startStack({ dataDir, env: { ...named, TEMPORAL_NAMESPACE: 'content' } });
  expect(external).toMatchObject({ ...theirs, temporalUiUrl: null, temporalNamespace: 'content' });
  expect(readdirSync(dataDir)).toEqual([]);
  await external.stop();
  expect(await query(theirs.databaseUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await temporal(theirs.temporalAddress, (client) => client.workflowService.getSystemInfo({}));

  const name = `bytes_${randomBytes(4).toString('hex')}`;
  onTestFinished(async () => void (await query(theirs.databaseUrl, `DROP DATABASE IF EXISTS ${name}`)));
  await query(
    theirs.databaseUrl,
    `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C' LOCALE_PROVIDER libc`,
  );
  const bytes = databaseUrl(theirs.databaseUrl, name);
  await expect(startStack({ dataDir, env: { ...named, DATABASE_URL: bytes } })).rejects.toThrow(
    /SQL_ASCII.*UTF8/,
  );
});

test('a start that fails or is abandoned leaves nothing running', async () => {
  const dataDir = dataFolder();
  endEnginesAfterTest(dataDir);
  const broken = { PATH: '', TEMPORAL_CLI_PATH: join(dataDir, 'no-such-file') };
  await expect(startStack({ dataDir, env: broken })).rejects.toThrow(/TEMPORAL_CLI_PATH/);
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
  expect(existsSync(join(dataDir, 'stack.json'))).toBe(false);
  const abandoned = AbortSignal.timeout(30);
  await expect(startStack({ dataDir, env, signal: abandoned })).rejects.toThrow();
  expect(runningEngines(dataDir)).toEqual([]);
});

test('a checkout below a folder that only its owner may enter has a database, for root as well', async () => {
  const parent = temporaryFolder();
  chmodSync(parent, 0o700);
  const installed = await postgresBinaries();
  const root = join(parent, 'native');
  cpSync(installed.root, root, { recursive: true, verbatimSymlinks: true });
  const moved = (path: string) => join(root, relative(installed.root, path));
  const { initdb, postgres } = installed;
  const binaries = { root, initdb: moved(initdb), postgres: moved(postgres) };
  const cluster = await openCluster(binaries, parent, { durable: false, onProgress: () => undefined });
  expect(readFileSync(join(cluster.folder, 'PG_VERSION'), 'utf8').trim()).toBe('18');
  expect(statSync(cluster.folder).mode & 0o777).toBe(0o700);
});

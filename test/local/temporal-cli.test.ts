import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cacheFolder, findTemporalCli } from '../../src/local/temporal-cli.ts';
import { temporaryFolder } from './helpers.ts';

const RELEASE = 'temporal version 1.6.0 (Server 1.30.0, UI 2.43.0)';
const BUILT = 'temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)';
const OLD = 'temporal version 1.3.0 (Server 1.27.1, UI 2.36.0)';

function script(path: string, ...lines: string[]): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
}

/** A proxy on loopback that takes every connection and never says a word, like a firewall that drops packets. */
async function silentProxy(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => asked.push(data.toString('latin1').split('\r\n')[0] ?? ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return { url: `http://127.0.0.1:${address.port}`, asked };
}

test('TEMPORAL_CLI_PATH comes first, then PATH unless too old, then the cache', async () => {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  const told: string[] = [];
  const onProgress = (message: string) => void told.push(message);
  const env = { PATH: bin, HOME: folder, XDG_CACHE_HOME: join(folder, 'cache'), LOCALAPPDATA: folder };
  const cached = script(join(cacheFolder(env), 'temporal-v1.5.1', 'temporal'), `echo '${BUILT}'`);
  const onPath = script(join(bin, 'temporal'), `echo '${RELEASE}'`);
  const named = script(join(folder, 'named'), `echo '${OLD}'`);

  const lookUp = (more: NodeJS.ProcessEnv = {}) => findTemporalCli({ env: { ...env, ...more }, onProgress });
  expect(await lookUp({ TEMPORAL_CLI_PATH: named })).toEqual({
    path: named,
    version: 'v1.3.0',
    source: 'TEMPORAL_CLI_PATH',
  });
  expect(await lookUp()).toEqual({ path: onPath, version: 'v1.6.0', source: 'PATH' });
  script(onPath, `echo '${BUILT}'`);
  expect(await lookUp()).toEqual({ path: onPath, version: 'server-1.29.1', source: 'PATH' });
  expect(told).toEqual([]);
  for (const useless of [`echo '${OLD}'`, 'exit 3']) {
    script(onPath, useless);
    expect(await lookUp()).toEqual({ path: cached, version: 'v1.5.1', source: 'cache' });
  }
  expect(told).toEqual([expect.stringContaining('1.27.1 is too old'), expect.stringContaining('--version')]);
  await expect(lookUp({ TEMPORAL_CLI_PATH: onPath })).rejects.toThrow(/TEMPORAL_CLI_PATH.*no Temporal CLI/);
});

test('a download that does not answer is given up, then Go builds the executable once for all who wait', {
  timeout: 30_000,
}, async () => {
  const folder = temporaryFolder();
  const proxy = await silentProxy();
  const told: string[] = [];
  const calls = join(folder, 'calls');
  const env = {
    PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
    HOME: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
    HTTPS_PROXY: proxy.url,
    HTTP_PROXY: proxy.url,
  };
  script(
    join(folder, 'bin', 'go'),
    `echo "$*" >>'${calls}'`,
    'echo "go: downloading go.temporal.io/server v1.29.1" >&2',
    `printf '#!/bin/sh\\necho "${BUILT}"\\n' >"$GOBIN/temporal"`,
    'chmod +x "$GOBIN/temporal"',
  );
  const options = { env, onProgress: (message: string) => void told.push(message), downloadStallMs: 3_000 };
  const found = await Promise.all([findTemporalCli(options), findTemporalCli(options)]);
  const path = join(cacheFolder(env), 'temporal-v1.5.1', 'temporal');
  expect(found).toEqual([1, 2].map(() => ({ path, version: 'v1.5.1', source: 'cache' })));
  expect(readdirSync(dirname(path))).toEqual(['temporal']);
  expect(told.filter((message) => message.startsWith('Building'))).toHaveLength(1);
  expect(told).toContainEqual(expect.stringContaining('Waiting for process'));
  // Nothing left this machine: the only address that was asked is the silent proxy.
  expect(proxy.asked).toEqual([expect.stringMatching(/^CONNECT temporal\.download:443 /)]);
});

test('when no way is open, the error says what failed and lists what helps', {
  timeout: 30_000,
}, async () => {
  const folder = temporaryFolder();
  const env = {
    PATH: join(folder, 'bin'),
    HOME: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
    HTTPS_PROXY: 'http://127.0.0.1:9',
  };
  script(join(folder, 'bin', 'go'), 'echo "go: no network" >&2', 'exit 1');
  const attempt = findTemporalCli({ env, onProgress: () => undefined, downloadStallMs: 5_000 });
  const message = await attempt.then(String, String);
  expect(message).toContain('go install: go: no network');
  for (const way of ['PATH', 'TEMPORAL_CLI_PATH', 'install Go', 'TEMPORAL_ADDRESS'])
    expect(message).toContain(way);
  expect(existsSync(join(cacheFolder(env), 'temporal-v1.5.1', 'temporal'))).toBe(false);
  expect(readdirSync(join(cacheFolder(env), 'temporal-v1.5.1'))).toEqual([]);
});

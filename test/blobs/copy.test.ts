import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type BlobStore, blobFolder, blobKey, createLocalBlobStore } from '../../src/blobs/blob-store.ts';
import { runCli } from '../cli/run.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { s3Variables } from './support/s3-variables.ts';

let s3: S3Server;
let dataDir: string;
let folder: BlobStore;
const blobs = new Map(
  Array.from({ length: 40 }, (_, number) => {
    const bytes = Buffer.from(`blob ${number}`);
    return [createHash('sha256').update(bytes).digest('hex'), bytes] as const;
  }),
);
const hashes = [...blobs.keys()].sort();

beforeEach(async () => {
  s3 = await startS3Server();
  dataDir = mkdtempSync(path.join(tmpdir(), 'wcs-copy-'));
  folder = createLocalBlobStore(blobFolder(dataDir));
  for (const [hash, bytes] of blobs) await folder.put(hash, bytes);
});
afterEach(async () => {
  await s3.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** No database is named, and none is made. */
const copy = async (from: string, to: string, env: Record<string, string> = {}) => {
  const run = await runCli('admin', ['blobs', 'copy', '--from', from, '--to', to, '--json'], {
    ...s3Variables(s3),
    DATA_DIR: dataDir,
    ...env,
  });
  expect(run.stdout + run.stderr).not.toContain(s3.settings.secretAccessKey);
  return { ...run, result: run.stdout === '' ? null : JSON.parse(run.stdout) };
};
const inBucket = () => [...s3.objects.keys()].sort();

// contract.md F43
it('copies what the bucket lacks, says so, goes on where a store failed, and copies nothing twice', async () => {
  const [first = ''] = hashes;
  s3.objects.set(blobKey(first), { bytes: Buffer.from('there'), changedAt: 0 });
  let puts = 0;
  s3.behave = ({ method, serve, refuse }) => {
    if (method === 'PUT') puts += 1;
    if (puts > 15) refuse(403, 'AccessDenied');
    else serve();
  };
  const failed = await copy('folder', 's3');
  expect([failed.code, failed.result]).toEqual([1, null]);
  expect(failed.stderr).toMatch(/^error: .*HTTP 403, AccessDenied.*S3_ACCESS_KEY_ID/m);
  s3.behave = ({ serve }) => serve();
  const { code, result, stderr } = await copy('folder', 's3');
  expect(code).toBe(0);
  expect(result).toMatchObject({ ok: true, copied: 24, present: 16, damaged: 0 });
  expect(stderr).toMatch(/^[0-9a-f]{2}: \d+ copied, \d+ were there$/m);
  expect(inBucket()).toEqual(hashes.map(blobKey));
  expect(existsSync(path.join(dataDir, 'postgres'))).toBe(false);
  s3.requests.length = 0;
  expect((await copy('folder', 's3')).result).toMatchObject({ copied: 0, copiedBytes: 0, present: 40 });
  expect(s3.requests.filter((request) => !request.startsWith('GET '))).toEqual([]);
});

// contract.md F43
it('brings a bucket back into an empty folder, but nothing that is damaged', async () => {
  for (const [hash, bytes] of blobs) s3.objects.set(blobKey(hash), { bytes, changedAt: 0 });
  const [damaged = ''] = hashes;
  s3.objects.set(blobKey(damaged), { bytes: Buffer.from('other bytes'), changedAt: 0 });
  const other = path.join(dataDir, 'other');
  const { code, result, stderr } = await copy('s3', 'folder', { DATA_DIR: other });
  expect([code, result]).toEqual([
    1,
    { ok: false, copied: 39, copiedBytes: expect.any(Number), present: 0, damaged: 1 },
  ]);
  expect(stderr).toContain(`damaged, not copied: ${damaged}`);
  const copied = createLocalBlobStore(blobFolder(other));
  for (const hash of hashes) expect(await copied.has(hash)).toBe(hash !== damaged);
});

it('names what is missing before it reads anything', async () => {
  writeFileSync(path.join(dataDir, 'untouched'), '');
  const unset = await copy('folder', 's3', { BLOB_STORE: '', S3_BUCKET: '', S3_SECRET_ACCESS_KEY: '' });
  expect([unset.code, unset.stderr]).toEqual([
    1,
    'error: Set S3_BUCKET, S3_SECRET_ACCESS_KEY: the store s3 needs them.\n',
  ]);
  const same = await copy('s3', 's3');
  expect([same.code, same.stderr]).toEqual([1, 'error: --to: Expected another store than --from.\n']);
  expect((await copy('folder', 'disk')).stderr).toContain('disk is not one of folder, s3');
  expect(s3.requests).toEqual([]);
});

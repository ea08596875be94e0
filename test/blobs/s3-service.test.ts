import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createBlobStore } from '../../src/blobs/create.ts';
import { exportWorkspace } from '../../src/export/export.ts';
import type { ProjectId } from '../../src/ids.ts';
import { type Editing, editing } from '../articles/support.ts';
import { svg } from '../support/images.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import {
  startTestService,
  type TestService,
  type TestWorkspace,
  WITH_SCHEDULES,
} from '../support/service.ts';
import { connectOperator } from '../support/temporal.ts';
import { eventually } from '../support/wait.ts';
import { s3Variables } from './support/s3-variables.ts';

let s3: S3Server;
let folder: string;
let service: TestService;
let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;

beforeAll(async () => {
  s3 = await startS3Server();
  folder = mkdtempSync(path.join(tmpdir(), 'wcs-s3-'));
  service = await startTestService({ ...s3Variables(s3), DATA_DIR: folder, BLOB_GRACE_DAYS: '0' });
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});
beforeEach(() => {
  s3.behave = ({ serve }) => serve();
});
afterAll(async () => {
  await service.stop();
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});

let made = 0;
/** An image that no other test has. */
const image = (size = 0): Buffer => {
  made += 1;
  return svg(made, size);
};
const assetsOf = (articleId: string, more = '') => `/api/articles/${articleId}/assets${more}`;
const load = async (asset: { url: string }, method = 'GET') => {
  const response = await fetch(new URL(asset.url, service.url), { method });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
};

// contract.md F40 and F44
it('an image in a bucket is uploaded, listed, served, exported, deleted and collected', async () => {
  const { id } = await editor.create(projectId);
  const bytes = image(3_000_000);
  const { status, body } = await editor.upload('POST', assetsOf(id), bytes);
  expect(status).toBe(201);
  const kept = (await editor.upload('PUT', `/api/articles/${id}/hero`, image())).body.asset;
  expect(readdirSync(folder)).toEqual([]);
  expect(s3.objects.size).toBe(2);
  expect((await editor.call('GET', assetsOf(id))).body.assets).toHaveLength(2);
  const loaded = await load(body.asset);
  expect(loaded.bytes.equals(bytes)).toBe(true);
  expect((await load(body.asset, 'HEAD')).headers.get('content-length')).toBe(String(bytes.length));

  const blobs = await createBlobStore(service.config);
  const { images } = await exportWorkspace({ ...workspace.context, blobs }, path.join(folder, 'all.tar'));
  await blobs.close();
  expect(images).toEqual({ count: 2, bytes: expect.any(Number), missing: [] });

  await editor.call('DELETE', assetsOf(id, `/${body.asset.id}`));
  expect((await load(body.asset)).status).toBe(404);
  await service.startWorker(WITH_SCHEDULES);
  const operator = await connectOperator();
  const prune = operator.client.schedule.getHandle(`${service.config.TEMPORAL_TASK_QUEUE_PREFIX}prune`);
  // The worker may not have made the schedule yet.
  await eventually(
    async () => {
      await prune.trigger().catch(() => undefined);
      return s3.objects.size;
    },
    (count) => count === 1,
  );
  await operator.close();
  await service.stopWorkers();
  expect((await load(kept)).status).toBe(200);
});

// contract.md F41
it('a store that fails makes what needs it 503, and nothing else', async () => {
  const { id } = await editor.create(projectId);
  const { asset } = (await editor.upload('POST', assetsOf(id), image())).body;
  const used = await editor.storageUsed();
  s3.behave = ({ refuse }) => refuse(500, 'InternalError');

  for (const [method, where] of [
    ['POST', assetsOf(id)],
    ['PUT', `/api/articles/${id}/hero`],
  ] as const) {
    const { status, headers, body } = await editor.upload(method, where, image());
    expect([status, headers.get('retry-after')]).toEqual([503, '10']);
    expect(body.detail).toBe('Images cannot be stored at the moment. Try again later.');
  }
  const unread = await load(asset);
  expect([unread.status, unread.headers.get('retry-after')]).toEqual([503, '10']);
  expect((await editor.call('GET', assetsOf(id))).body.assets).toHaveLength(1);
  expect(await editor.storageUsed()).toBe(used);
  expect((await editor.patch(id, { title: 'Another' })).status).toBe(200);
  const ready = await eventually(
    () => service.call(null, 'GET', '/readyz'),
    ({ body }) => body.checks.images === 'unavailable',
  );
  expect(ready.status).toBe(200);
  expect(ready.body).toEqual({
    status: 'ready',
    checks: { postgres: 'ok', temporal: 'ok', images: 'unavailable' },
  });

  s3.behave = ({ serve }) => serve();
  expect((await editor.upload('POST', assetsOf(id), image())).status).toBe(201);
  expect((await load(asset)).status).toBe(200);
});

// contract.md F42
it('a store that responds late holds up no other change of the article, and no transaction', async () => {
  const { id } = await editor.create(projectId);
  const held: (() => void)[] = [];
  s3.behave = ({ method, serve }) => (method === 'PUT' ? held.push(serve) : serve());
  const upload = editor.upload('POST', assetsOf(id), image());
  await eventually(
    async () => held.length,
    (count) => count === 1,
  );
  expect((await editor.patch(id, { title: 'Meanwhile' })).status).toBe(200);
  const { rows } = await sql`
    SELECT query FROM pg_stat_activity
    WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`.execute(
    service.db,
  );
  expect(rows).toEqual([]);
  for (const serve of held) serve();
  expect((await upload).status).toBe(201);
});

// contract.md F40
it('an image whose bytes fail on their way ends the connection', async () => {
  const { id } = await editor.create(projectId);
  const { asset } = (await editor.upload('POST', assetsOf(id), image(1_000_000))).body;
  s3.behave = ({ method, headers, response, serve }) => {
    if (method !== 'GET') serve();
    else {
      response.writeHead(headers.range === undefined ? 200 : 206, { 'content-length': '1000000' });
      response.write(Buffer.alloc(1_000), () => response.destroy());
    }
  };
  await expect(load(asset)).rejects.toThrow();
});

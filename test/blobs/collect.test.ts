import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { importArticle } from '../../src/articles/import.ts';
import { uploadAsset } from '../../src/assets/upload.ts';
import {
  type BlobStore,
  blobFolder,
  contentHashOf,
  createLocalBlobStore,
} from '../../src/blobs/blob-store.ts';
import { type CollectPosition, collectBlobs } from '../../src/blobs/collect.ts';
import { keepBlobs, nameBlobs, type StagedBlobs, stageBlobs } from '../../src/blobs/references.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import type { ArticleId, ProjectId } from '../../src/ids.ts';
import { setLimits } from '../../src/workspaces/set-limits.ts';
import { type Editing, editing, paragraph } from '../articles/support.ts';
import { useDataFolder } from '../support/data-folder.ts';
import { png, svg, useTestMedia } from '../support/images.ts';
import { startProcess } from '../support/processes.ts';
import { startTestService, type TestWorkspace, useTestService, WITH_SCHEDULES } from '../support/service.ts';
import { connectOperator } from '../support/temporal.ts';
import { createStandIn, translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const media = useTestMedia();

const DAY_MS = 86_400_000;
const folder = useDataFolder();
const blobs: BlobStore = createLocalBlobStore(blobFolder(folder));
const ENV = { DATA_DIR: folder, BLOB_GRACE_DAYS: '0' };
const service = useTestService(ENV);
let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;

beforeEach(async () => {
  // A round is about all bytes there are.
  for (const table of ['assets', 'blobs'] as const) await service.db.deleteFrom(table).execute();
  rmSync(blobFolder(folder), { recursive: true, force: true });
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});

/** Each is one file: it has no preview. */
const image = svg;
const assetsOf = (articleId: string, more = '') => `/api/articles/${articleId}/assets${more}`;
const stored = (name: RegExp): string[] => {
  try {
    return readdirSync(blobFolder(folder), { recursive: true, encoding: 'utf8' }).filter((file) =>
      name.test(file),
    );
  } catch {
    return [];
  }
};
/** Whole ones: a server that is killed while it still writes leaves a draft instead. */
const files = () => stored(/[0-9a-f]{64}$/);
const drafts = () => stored(/\.tmp$/);
const upload = async (by: Editing, articleId: string, bytes: Buffer) => {
  const { status, body } = await by.upload('POST', assetsOf(articleId), bytes);
  expect(status).toBe(201);
  return body.asset as { id: string; url: string };
};
const remove = (by: Editing, articleId: string, assetId: string) =>
  by.call('DELETE', assetsOf(articleId, `/${assetId}`));
const served = async (asset: { url: string }, { url } = service) =>
  (await fetch(new URL(asset.url, url))).status;
const collect = (graceMs: number, more: { signal?: AbortSignal; from?: CollectPosition } = {}) =>
  collectBlobs(service.db, { blobs, graceMs, signal: AbortSignal.timeout(30_000), ...more });
/** Lets all marks and files be so much older. */
const age = async (ms: number) => {
  const seconds = ms / 1_000;
  await sql`
    UPDATE blobs SET unreferenced_since = unreferenced_since - make_interval(secs => ${seconds}),
      kept_until = kept_until - make_interval(secs => ${seconds})`.execute(service.db);
  const then = new Date(Date.now() - ms);
  for (const file of [...files(), ...drafts()]) utimesSync(path.join(blobFolder(folder), file), then, then);
};

/** A service of one test alone, whose worker makes schedules. */
const startOwn = async () => {
  const own = await startTestService(ENV);
  onTestFinished(() => own.stop());
  return own;
};

it('an image that the quota refuses is never written', async () => {
  const { id } = await editor.create(projectId);
  await setLimits(workspace.context, { storageBytes: 10 });
  for (const where of [assetsOf(id), `/api/articles/${id}/hero`]) {
    const method = where.endsWith('hero') ? 'PUT' : 'POST';
    expect((await editor.upload(method, where, image(1))).status).toBe(429);
  }
  const file = path.join(folder, 'article.md');
  writeFileSync(path.join(folder, 'image.png'), image(2));
  writeFileSync(file, 'Text\n\n![An image](image.png)\n');
  const input = { projectId, language: 'en', file, status: 'DRAFT', keywords: [] } as const;
  await expect(importArticle({ ...workspace.context, blobs, media }, input)).rejects.toMatchObject({
    code: 'QUOTA_EXCEEDED',
  });
  expect([...files(), ...drafts()]).toEqual([]);
});

// contract.md F20
it.each(['ENOSPC', 'EDQUOT', 'EROFS'])(
  'an image for which the store has no room (%s) is 503 and has no row',
  async (code) => {
    const { id } = await editor.create(projectId);
    const full: BlobStore = {
      ...blobs,
      put: async () => {
        throw Object.assign(new Error('write failed'), { code, syscall: 'write' });
      },
    };
    const input = { articleId: id as ArticleId, bytes: image(1) };
    await expect(uploadAsset({ ...workspace.context, blobs: full, media }, input)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryAfter: 60,
    });
    expect((await editor.call('GET', assetsOf(id))).body).toEqual({ assets: [] });
    expect(await editor.storageUsed()).toBe(0);
  },
);

it('an image whose bytes cannot be stored has no row and costs no quota', async () => {
  const { id } = await editor.create(projectId);
  writeFileSync(blobFolder(folder), 'in the way');
  expect((await editor.upload('POST', assetsOf(id), image(1))).status).toBe(500);
  expect((await editor.call('GET', assetsOf(id))).body).toEqual({ assets: [] });
  expect(await editor.storageUsed()).toBe(0);
});

it('bytes that workspaces share stay until none of them has the image, and for the grace period after that', async () => {
  const other = await service.workspace();
  const others = editing(service, other);
  const article = await editor.create(projectId);
  const twin = await others.create(await service.project(other));
  await upload(editor, article.id, image(0));
  const asset = await upload(editor, article.id, image(1));
  const copy = await upload(others, twin.id, image(1));
  expect(files()).toHaveLength(2);

  await remove(editor, article.id, asset.id);
  expect(await collect(0)).toBe(0);
  expect(await served(copy)).toBe(200);

  // The last one goes with its article, not by itself.
  await others.call('DELETE', `/api/articles/${twin.id}`);
  expect(await collect(7 * DAY_MS)).toBe(0);
  await age(7 * DAY_MS - 60_000);
  expect(await collect(7 * DAY_MS)).toBe(0);
  expect(files()).toHaveLength(2);
  await age(120_000);
  expect(await collect(7 * DAY_MS)).toBe(1);
  expect(files()).toHaveLength(1);
  expect(await collect(7 * DAY_MS)).toBe(0);
});

// contract.md F50
it('preview and thumbnail stay and go with their image, and count for the quota in each copy of it', async () => {
  const { id } = await editor.create(projectId);
  await upload(editor, id, image(0));
  const before = await editor.storageUsed();
  await upload(editor, id, png(400, 300));
  expect(files()).toHaveLength(4);
  const { rows } = await sql<{ size: number }>`SELECT sum(size)::integer AS size FROM blobs`.execute(
    service.db,
  );
  const each = (rows[0]?.size ?? 0) - before;
  expect(await editor.storageUsed()).toBe(before + each);
  const { body } = await editor.call('POST', `/api/articles/${id}/duplicate`);
  expect(await editor.storageUsed()).toBe(2 * (before + each));
  await editor.call('DELETE', `/api/articles/${id}`);
  expect(await editor.storageUsed()).toBe(before + each);
  expect(await collect(0)).toBe(0);
  const { assets } = (await editor.call('GET', assetsOf(body.article.id))).body;
  for (const { url, previewUrl, thumbnailUrl } of assets.slice(1)) {
    for (const path of [url, previewUrl, thumbnailUrl]) expect(await served({ url: path })).toBe(200);
  }
  for (const asset of assets.slice(1)) await remove(editor, body.article.id, asset.id);
  expect(await editor.storageUsed()).toBe(before);
  await collect(0);
  expect(await collect(0)).toBe(0);
  expect(files()).toHaveLength(1);
});

it('a database that is brought back from within the grace period finds its images', async () => {
  const { id } = await editor.create(projectId);
  const asset = await upload(editor, id, image(1));
  const backup = await service.db.selectFrom('assets').selectAll().execute();
  await remove(editor, id, asset.id);
  await collect(7 * DAY_MS);
  await age(7 * DAY_MS - 60_000);
  await collect(7 * DAY_MS);
  await service.db.insertInto('assets').values(backup).execute();
  expect(await served(asset)).toBe(200);
  // Named again, it is not on its way out any more.
  await collect(7 * DAY_MS);
  await age(DAY_MS);
  await collect(7 * DAY_MS);
  expect(await served(asset)).toBe(200);
});

it('an image that is uploaded at the moment of its removal has its bytes', async () => {
  const { id } = await editor.create(projectId);
  await upload(editor, id, image(0));
  let last = await upload(editor, id, image(1));
  for (let round = 0; round < 25; round += 1) {
    await remove(editor, id, last.id);
    [last] = await Promise.all([
      upload(editor, id, image(1)),
      collect(0).then(() => collect(0)),
      collect(0, { from: { stage: 'files', after: '00' } }),
    ]);
    expect(await served(last)).toBe(200);
  }
});

it('a server that is killed between the file and the commit leaves a file that goes, and no row', async () => {
  const { id } = await editor.create(projectId);
  await upload(editor, id, image(0));
  const server = await startProcess('server.ts', { ...service.env, PORT: '0' });
  const [, url = ''] = /listening on (http:[^"]+)/.exec(server.log()) ?? [];
  await service.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE assets IN EXCLUSIVE MODE`.execute(tx);
    const lost = fetch(new URL(assetsOf(id), url), {
      method: 'POST',
      headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'image/png' },
      body: new Uint8Array(image(1)),
    }).catch(() => 'lost');
    await eventually(
      async () => files().length,
      (count) => count === 2,
    );
    server.kill('SIGKILL');
    expect(await lost).toBe('lost');
    await server.ended;
  });
  expect((await editor.call('GET', assetsOf(id))).body.assets).toHaveLength(1);
  // Its transaction may still be ending, and a restored database may know of it.
  expect(await collect(0)).toBe(0);
  await age(DAY_MS);
  expect(await collect(DAY_MS)).toBe(0);
  expect(files()).toHaveLength(2);
  await age(DAY_MS);
  expect(await collect(DAY_MS)).toBe(1);
  expect(files()).toHaveLength(1);
});

// contract.md F44
it('bytes that are being stored stay without a grace period, and are named by nobody who comes too late', async () => {
  const { id } = await editor.create(projectId);
  await upload(editor, id, image(0));
  const stage = async (number: number) => {
    const bytes = image(number);
    const blob = { bytes, contentHash: await contentHashOf(bytes) };
    return stageBlobs(service.db, blobs, [blob], async () => undefined);
  };
  const name = (staged: StagedBlobs) => inTransaction(service.db, (tx) => nameBlobs(tx, staged));
  const staged = await stage(1);
  expect([await collect(0), await collect(0)]).toEqual([0, 0]);
  expect(files()).toHaveLength(2);
  // Others may not refer to what may never be stored.
  expect(await inTransaction(service.db, (tx) => keepBlobs(tx, staged.hashes))).toEqual(new Set());
  await name(staged);
  const late = await stage(2);
  await age(DAY_MS);
  await expect(name({ ...late, until: new Date(0) })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(await collect(0)).toBe(2);
  await expect(name(late)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(files()).toHaveLength(1);
});

it('two requests that store the same bytes both name them', async () => {
  const articles = await Promise.all([1, 2, 3, 4].map(() => editor.create(projectId)));
  for (let round = 0; round < 5; round += 1) {
    const assets = await Promise.all(articles.map(({ id }) => upload(editor, id, image(round))));
    for (const asset of assets) expect(await served(asset)).toBe(200);
  }
  const rows = await service.db.selectFrom('blobs').select('kept_until').execute();
  expect(rows).toEqual(Array.from({ length: 5 }, () => ({ kept_until: null })));
});

it('a draft that a killed server left goes after a day, and not before', async () => {
  const { id } = await editor.create(projectId);
  await upload(editor, id, image(0));
  const [file = ''] = files();
  writeFileSync(path.join(blobFolder(folder), `${file}.0f.tmp`), 'a part');
  await age(DAY_MS - 60_000);
  expect(await collect(0)).toBe(0);
  expect(drafts()).toHaveLength(1);
  await age(DAY_MS);
  expect(await collect(0)).toBe(0);
  expect(drafts()).toEqual([]);
  expect(files()).toEqual([file]);
});

it('a round stops on its signal, and the next attempt continues where it was', async () => {
  const { id } = await editor.create(projectId);
  await upload(editor, id, image(0));
  for (const number of [1, 2, 3]) await remove(editor, id, (await upload(editor, id, image(number))).id);
  const stopped = AbortSignal.abort(new Error('told to'));
  await expect(collect(0, { signal: stopped })).rejects.toThrow('told to');
  expect(files()).toHaveLength(4);
  const seen: CollectPosition[] = [];
  await collectBlobs(service.db, {
    blobs,
    graceMs: 0,
    signal: AbortSignal.timeout(30_000),
    from: { stage: 'files', after: 'fd' },
    onProgress: (position) => seen.push(position),
  });
  expect(seen).toEqual([
    { stage: 'files', after: 'fe' },
    { stage: 'files', after: 'ff' },
  ]);
});

it('nothing is removed from a folder that has none of the images the database knows', async () => {
  const { id } = await editor.create(projectId);
  await upload(editor, id, image(1));
  const [file = ''] = files();
  rmSync(path.join(blobFolder(folder), file));
  await blobs.put('a'.repeat(64), image(2));
  await age(DAY_MS);
  expect(await collect(0)).toBe(null);
  expect(files()).toHaveLength(1);
});

it('a folder that cannot be worked on fails its own step alone, and the next night starts again', async () => {
  const own = await startOwn();
  const { id: workspaceId } = await own.workspace();
  // As under Linux' own permissions, which a test that runs as root would not feel.
  writeFileSync(blobFolder(folder), 'in the way');
  await own.db
    .insertInto('blobs')
    .values({ hash: 'a'.repeat(64), size: 1 })
    .execute();
  await own.startWorker(WITH_SCHEDULES);
  const operator = await connectOperator();
  const prune = operator.client.schedule.getHandle(`${own.config.TEMPORAL_TASK_QUEUE_PREFIX}prune`);
  try {
    // A worker makes its schedules while it works already.
    await eventually(
      () => prune.describe().catch(() => null),
      (schedule) => schedule !== null,
    );
    for (let night = 1; night <= 2; night += 1) {
      await sql`INSERT INTO events (id, workspace_id, type, body, created_at)
        VALUES (gen_random_uuid(), ${workspaceId}, 'ping', '', to_timestamp(0))`.execute(own.db);
      await prune.trigger();
      const { info } = await eventually(
        () => prune.describe(),
        (schedule) => schedule.info.recentActions.length === night,
      );
      const run = info.recentActions.at(-1)?.action.workflow.workflowId ?? '';
      await expect(operator.client.workflow.getHandle(run).result()).rejects.toMatchObject({
        cause: { type: 'PruneIncomplete', message: expect.stringContaining('unused images') },
      });
      expect(await own.db.selectFrom('events').select('id').execute()).toEqual([]);
    }
  } finally {
    await operator.close();
  }
});

it('the nightly run removes what nothing names, and a translation that comes too late goes without the image', async () => {
  const own = await startOwn();
  const provider = createStandIn();
  const calls = translating(own);
  const workspace = await own.workspace();
  const editor = editing(own, workspace);
  const projectId = await own.project(workspace);
  let go: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  provider.behave = () => held;
  await own.startWorker({ provider, ...WITH_SCHEDULES });
  const source = await editor.create(projectId, {
    documentJson: { version: 1, blocks: [paragraph('Text to translate')] },
  });
  await upload(editor, source.id, image(0));
  const asset = await upload(editor, source.id, image(1));
  const blocks = [paragraph('Text to translate'), { id: 'i', type: 'image', assetId: asset.id, altText: '' }];
  expect((await editor.patch(source.id, { documentJson: { version: 1, blocks } })).status).toBe(200);
  const { body } = await editor.call('POST', `/api/articles/${source.id}/translations`, { language: 'es' });
  const used = await editor.storageUsed();
  await remove(editor, source.id, asset.id);
  const operator = await connectOperator();
  const prune = operator.client.schedule.getHandle(`${own.config.TEMPORAL_TASK_QUEUE_PREFIX}prune`);
  // Once to mark it, and once to find that its time is over. The worker may not have made the schedule yet.
  await eventually(
    async () => {
      await prune.trigger().catch(() => undefined);
      return files().length;
    },
    (count) => count === 1,
  );
  await operator.close();
  go();
  await calls.untilFinal(workspace, body.job.id);
  const { assets } = (await editor.call('GET', assetsOf(body.article.id))).body;
  expect(assets).toHaveLength(1);
  expect(await served(assets[0], own)).toBe(200);
  expect((await editor.read(body.article.id)).contentHtml).toMatch(/^<p>.*<\/p>$/);
  expect(await editor.storageUsed()).toBe(used - 2 * image(1).length);
});

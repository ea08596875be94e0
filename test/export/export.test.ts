import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { unpackTar } from 'modern-tar';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { blobFolder, createLocalBlobStore } from '../../src/blobs/blob-store.ts';
import { exportWorkspace, type Manifest } from '../../src/export/export.ts';
import { KINDS, NOT_EXPORTED } from '../../src/export/kinds.ts';
import { deleteProject } from '../../src/projects/delete.ts';
import { editing, PNG } from '../articles/support.ts';
import { register } from '../support/events.ts';
import { useTestMedia } from '../support/images.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'wcs-export-'));
const service = useTestService({ DATA_DIR: folder });
const blobs = createLocalBlobStore(blobFolder(folder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let workspace: TestWorkspace;
beforeAll(async () => {
  workspace = await service.workspace();
});

const media = useTestMedia();
/** What is stored of the small image: its preview and its thumbnail have the same bytes. */
const imagesOfPng = async (): Promise<readonly Uint8Array[]> => {
  const { bytes, thumbnail } = await media.processUpload(PNG, '');
  return [bytes, thumbnail?.bytes ?? expect.fail()];
};

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** An export as its reader has it: lines by kind, images by name, the manifest. */
async function exported(name: string) {
  const out = path.join(folder, name);
  const progress: string[] = [];
  await exportWorkspace({ ...workspace.context, blobs }, out, (file) => progress.push(file.name));
  const entries = await unpackTar(readFileSync(out));
  const bytesOf = new Map(entries.map(({ header, data }) => [header.name, data ?? new Uint8Array()]));
  const textOf = (file: string) => new TextDecoder().decode(bytesOf.get(file));
  const manifest: Manifest = JSON.parse(textOf('manifest.json'));
  const lines = (kind: string) =>
    textOf(`${kind}.jsonl`)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { bytesOf, manifest, lines, progress, names: entries.map(({ header }) => header.name) };
}

// contract.md L14
it('every table with rows of workspaces is exported, or says why not', async () => {
  const { rows } = await sql<{ name: string }>`
    WITH RECURSIVE plain AS (
      SELECT oid, relname FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    ), tenant AS (
      SELECT plain.oid FROM plain JOIN pg_attribute ON attrelid = plain.oid
      WHERE attname = 'workspace_id' AND NOT attisdropped OR relname = 'workspaces'
      UNION
      SELECT conrelid FROM pg_constraint JOIN tenant ON confrelid = tenant.oid WHERE contype = 'f' AND conparentid = 0
    )
    SELECT relname AS name FROM plain WHERE oid IN (SELECT oid FROM tenant) ORDER BY relname`.execute(
    service.db,
  );
  const tables = rows.map(({ name }) => name);
  const accounted = [...KINDS.flatMap((kind) => kind.tables), ...Object.keys(NOT_EXPORTED)].sort();
  expect(new Set(accounted).size).toBe(accounted.length);
  expect(accounted).toEqual(tables);
});

// contract.md L12, L13 and L14
it('an export has everything of the workspace in the shapes of the API, its images, and a manifest that fits', async () => {
  const editor = editing(service, workspace);
  const projectId = await service.project(workspace);
  const gone = await service.project(workspace);
  const linked = await editor.published(projectId);
  const article = await editor.published(projectId, {
    documentJson: {
      version: 1,
      blocks: [{ id: 'p', type: 'paragraph', text: `See [it](article:${linked.id}).` }],
    },
  });
  await editor.create(gone);
  const { body: uploaded } = await editor.upload('POST', `/api/articles/${article.id}/assets`, PNG);
  const other = await createApiKey(workspace.context, { label: 'other', roleId: workspace.roles.owner });
  await service.call(other.key, 'PATCH', `/api/articles/${article.id}`, { title: 'Another title' });
  const { secret } = await register(service, workspace, 'http://127.0.0.1:9/');
  const { body: voice } = await editor.call('POST', `/api/workspaces/${workspace.id}/brand-voices`, {
    name: 'Plain',
    instructions: 'Short words.',
  });
  const { body: job } = await editor.call('POST', `/api/articles/${article.id}/translations`, {
    language: 'es',
  });
  await editor.call('POST', `/api/jobs/${job.job.id}/cancel`);
  await deleteProject(workspace.context, gone);
  const stranger = await service.workspace();
  await service.project(stranger);

  const { bytesOf, manifest, lines, progress, names } = await exported('one.tar');
  expect(progress).toEqual(KINDS.map(({ name }) => `${name}.jsonl`));
  expect(names.at(-1)).toBe('manifest.json');
  for (const { name, rows, bytes, sha256: sum } of manifest.files) {
    const data = bytesOf.get(name) ?? expect.fail(name);
    const count = data.filter((byte) => byte === 10).length;
    expect([name, count, data.byteLength, sha256(data)]).toEqual([name, rows, bytes, sum]);
  }
  const images = await imagesOfPng();
  const size = images.reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(manifest.images).toEqual({ count: images.length, bytes: size, missing: [] });
  for (const image of images) {
    expect(sha256(bytesOf.get(`images/${sha256(image)}`) ?? expect.fail())).toBe(sha256(image));
  }

  const read = async (route: string) => (await editor.call('GET', route)).body;
  const find = (kind: string, id: string) => lines(kind).find((line) => line.id === id);
  const of = `/api/workspaces/${workspace.id}`;
  expect(find('articles', article.id)).toEqual((await read(`/api/articles/${article.id}`)).article);
  expect(find('projects', projectId)).toEqual((await read(`/api/projects/${projectId}`)).project);
  expect(find('jobs', job.job.id)).toEqual((await read(`/api/jobs/${job.job.id}`)).job);
  expect(find('brand-voices', voice.brandVoice.id)).toEqual(voice.brandVoice);
  expect(find('assets', uploaded.asset.id)).toEqual({
    ...(await read(`/api/articles/${article.id}/assets`)).assets[0],
    contentHash: sha256(PNG),
  });
  expect(lines('roles')).toEqual(expect.arrayContaining((await read(`${of}/roles`)).roles));
  const { lastUsedAt: _, ...key } = (await read(`${of}/api-keys`)).apiKeys.find(
    ({ id }: { id: string }) => id === other.apiKey.id,
  );
  expect(find('api-keys', other.apiKey.id)).toMatchObject(key);
  const { endpoints } = await read(`${of}/webhooks`);
  expect(lines('webhook-endpoints')).toEqual(expect.arrayContaining(endpoints));
  expect(lines('workspace')).toEqual([expect.objectContaining({ id: workspace.id, name: 'Test' })]);
  expect(lines('projects').map(({ id }) => id)).toEqual([projectId]);
  expect(lines('articles')).toHaveLength(3);
  const { revisions } = await read(`/api/articles/${article.id}/revisions`);
  expect(lines('article-revisions')).toMatchObject([{ articleId: article.id, ...revisions[0] }]);
  // A gap shows: whatever the tenant has is there.
  const all = Buffer.concat([...bytesOf.values()]).toString('latin1');
  expect(all).not.toContain(stranger.id);
  expect(all).not.toContain(secret);
  const { key_hash } = await service.db
    .selectFrom('api_keys')
    .select('key_hash')
    .where('id', '=', workspace.keyId)
    .executeTakeFirstOrThrow();
  expect(all).not.toContain(key_hash.toString('hex'));
  expect(all).not.toContain(key_hash.toString('latin1'));
  expect(readdirSync(folder).sort()).toEqual(['blobs', 'one.tar']);
});

// contract.md L12
it('an export is of one moment, though rows come meanwhile, and names an image without bytes', async () => {
  const editor = editing(service, workspace);
  const before = (await editor.call('GET', `/api/workspaces/${workspace.id}/projects`)).body.projects.length;
  await rmSync(blobFolder(folder), { recursive: true });
  const out = path.join(folder, 'two.tar');
  let more: Promise<unknown> | undefined;
  const manifest = await exportWorkspace({ ...workspace.context, blobs }, out, () => {
    more ??= service.project(workspace);
  });
  await more;
  expect(manifest.files.find(({ name }) => name === 'projects.jsonl')?.rows).toBe(before);
  expect(manifest.images).toEqual({ count: 0, bytes: 0, missing: expect.any(Array) });
  expect([...manifest.images.missing].sort()).toEqual((await imagesOfPng()).map(sha256).sort());
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { createImageFetcher } from '../../src/assets/fetch-image.ts';
import type { Asset } from '../../src/assets/schemas.ts';
import type { ProjectId } from '../../src/ids.ts';
import { parseNetworks } from '../../src/networks.ts';
import { createAddressGuard } from '../../src/outbound/resolver.ts';
import { setQuota } from '../../src/workspaces/set-quota.ts';
import { documentOf, type Editing, editing, PNG, paragraph } from '../articles/support.ts';
import { startReceiver } from '../support/receiver.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';

const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
const MEBIBYTE = 1024 * 1024;

let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;
const folder = mkdtempSync(path.join(tmpdir(), 'wcs-assets-'));
// One loopback address alone is open, so that all others can be seen to be refused.
const service = useTestService({ DATA_DIR: folder, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1/32' });

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});

const assetsOf = (articleId: string, more = '') => `/api/articles/${articleId}/assets${more}`;
const image = (assetId: string, altText = '') => ({ id: 'i', type: 'image', assetId, altText });

it('keeps an uploaded image, counts its bytes, shows it in the body, and serves it to readers without a key', async () => {
  const { id } = await editor.create(projectId);
  const answer = await editor.upload(
    'POST',
    assetsOf(id, `?fileName=${encodeURIComponent('plan é.png')}&altText=A%20plan`),
    PNG,
  );
  const asset: Asset = answer.body.asset;
  expect([answer.status, asset]).toEqual([
    201,
    {
      id: expect.any(String),
      articleId: id,
      workspaceId: workspace.id,
      role: 'inline',
      mediaType: 'image/png',
      byteSize: PNG.length,
      fileName: 'plan é.png',
      altText: 'A plan',
      url: expect.stringMatching(new RegExp(`^/assets/${asset.id}/[0-9a-f]{16}$`)),
      createdAt: expect.any(String),
    },
  ]);
  expect(await editor.storageUsed()).toBe(PNG.length);
  expect((await editor.call('GET', assetsOf(id, `/${asset.id}`))).body).toEqual({ asset });
  expect((await editor.call('GET', assetsOf(id))).body).toEqual({ assets: [asset] });

  const saved = await editor.patch(id, { documentJson: documentOf(paragraph('Text'), image(asset.id)) });
  expect(saved.body.article.contentHtml).toBe(
    `<p>Text</p>\n<figure><img src="${asset.url}" alt="A plan"></figure>`,
  );
  const served = await fetch(new URL(asset.url, service.url));
  expect(Buffer.from(await served.arrayBuffer())).toEqual(PNG);
  expect(Object.fromEntries(served.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': 'inline',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'cross-origin',
  });
  for (const wrong of [asset.url.slice(0, -1), asset.url.replace(asset.id, id), '/assets/x/y']) {
    expect((await fetch(new URL(wrong, service.url))).status).toBe(404);
  }
  // An image of another article is not this one's to show.
  const other = await editor.create(projectId, { documentJson: documentOf(image(asset.id)) });
  expect(other.contentHtml).toBe('');
});

it('an SVG is a download that may run nothing', async () => {
  const { id } = await editor.create(projectId);
  const { body } = await editor.upload('POST', assetsOf(id), SVG, 'image/svg+xml');
  const served = await fetch(new URL(body.asset.url, service.url));
  expect(served.headers.get('content-type')).toBe('image/svg+xml');
  expect(served.headers.get('content-disposition')).toBe('attachment');
  expect(served.headers.get('content-security-policy')).toContain('sandbox');
});

it('refuses what is no image, too large or beyond the quota, and keeps nothing of it', async () => {
  const { id } = await editor.create(projectId);
  const refusals: [Uint8Array, string, number, string][] = [
    [Buffer.from('plain text'), 'image/png', 400, 'INVALID_REQUEST'],
    [Buffer.from('<html><svg></svg></html>'), 'image/svg+xml', 400, 'INVALID_REQUEST'],
    [new Uint8Array(), 'image/png', 400, 'INVALID_REQUEST'],
    [PNG, 'application/octet-stream', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [PNG, 'application/json', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [Buffer.concat([PNG, Buffer.alloc(20 * MEBIBYTE)]), 'image/png', 413, 'PAYLOAD_TOO_LARGE'],
  ];
  for (const [bytes, type, status, code] of refusals) {
    for (const [method, to] of [
      ['POST', assetsOf(id)],
      ['PUT', `/api/articles/${id}/hero`],
    ] as const) {
      const answer = await editor.upload(method, to, bytes, type);
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    }
  }
  const large = Buffer.concat([PNG, Buffer.alloc(6 * MEBIBYTE)]);
  await setQuota(workspace.context, { storageBytes: large.length + PNG.length });
  const many = await Promise.all(Array.from({ length: 5 }, () => editor.upload('POST', assetsOf(id), large)));
  expect(many.map(({ status }) => status).sort()).toEqual([201, 429, 429, 429, 429]);
  expect((await editor.upload('PUT', `/api/articles/${id}/hero`, PNG)).status).toBe(201);
  // The cover's own bytes are free for the one that replaces it.
  expect((await editor.upload('PUT', `/api/articles/${id}/hero`, PNG)).status).toBe(201);
  expect(await editor.storageUsed()).toBe(large.length + PNG.length);
  expect((await editor.call('GET', assetsOf(id))).body.assets).toHaveLength(2);
});

it('replacing the cover, not adding a first one, tells image.regenerated, and article.updated when published', async () => {
  const draft = await editor.create(projectId);
  const article = await editor.published(projectId);
  const path = (id: string) => `/api/articles/${id}/hero`;
  const first = await editor.upload('PUT', path(article.id), PNG);
  expect(first.body.asset.role).toBe('hero');
  const second = await editor.upload('PUT', path(article.id), SVG, 'image/svg+xml');
  const newId = second.body.asset.id;
  expect(newId).not.toBe(first.body.asset.id);
  const events = (await editor.events(article.id)).slice(3);
  expect(events.map(({ event }) => event).sort()).toEqual([
    'article.updated',
    'article.updated',
    'image.regenerated',
  ]);
  expect(events.filter(({ event }) => event === 'image.regenerated')).toEqual([
    { event: 'image.regenerated', data: { articleId: article.id, assetId: newId, type: 'hero' } },
  ]);
  for (const { event, data } of events) {
    if (event === 'article.updated') expect(data.changed).toEqual(['content']);
  }
  expect(await editor.storageUsed()).toBe(SVG.length);
  expect((await editor.call('GET', assetsOf(article.id))).body.assets.map(({ id }: Asset) => id)).toEqual([
    newId,
  ]);

  await editor.upload('PUT', path(draft.id), PNG);
  await editor.upload('PUT', path(draft.id), PNG);
  expect(await editor.eventTypes(draft.id)).toEqual(['article.created', 'image.regenerated']);

  const inBody = await editor.patch(article.id, {
    documentJson: documentOf(paragraph('Text'), image(newId)),
  });
  expect([inBody.status, inBody.body.errors[0].pointer]).toEqual([400, '/documentJson/blocks/1/assetId']);
});

it('a new alternative text and a deletion show at once, and tell article.updated only when readers see it', async () => {
  const article = await editor.published(projectId);
  const { asset } = (await editor.upload('POST', assetsOf(article.id, '?altText=Old'), PNG)).body;
  const unused = (await editor.upload('POST', assetsOf(article.id), PNG)).body.asset;
  await editor.patch(article.id, { documentJson: documentOf(paragraph('Text'), image(asset.id)) });
  const before = (await editor.events(article.id)).length;
  const one = assetsOf(article.id, `/${asset.id}`);

  expect((await editor.call('PATCH', one, { altText: 'Old' })).status).toBe(200);
  await editor.call('PATCH', assetsOf(article.id, `/${unused.id}`), { altText: 'Nobody sees it' });
  await editor.call('DELETE', assetsOf(article.id, `/${unused.id}`));
  expect((await editor.events(article.id)).length).toBe(before);

  expect((await editor.call('PATCH', one, { altText: 'New' })).body.asset.altText).toBe('New');
  expect((await editor.read(article.id)).contentHtml).toContain('alt="New"');
  expect((await editor.call('DELETE', one)).body).toEqual({ ok: true });
  expect((await editor.read(article.id)).contentHtml).toBe('<p>Text</p>');
  expect((await editor.call('DELETE', one)).status).toBe(404);
  const events = (await editor.events(article.id)).slice(before);
  expect(events.map(({ event, data }) => [event, data.changed])).toEqual([
    ['article.updated', ['content']],
    ['article.updated', ['content']],
  ]);
  expect(await editor.storageUsed()).toBe(0);
  expect(await editor.auditActions(asset.id)).toEqual(['assets.created', 'assets.updated', 'assets.deleted']);
});

it('while a job works on the article its images are left alone: 409', async () => {
  const article = await editor.create(projectId);
  const { asset } = (await editor.upload('POST', assetsOf(article.id), PNG)).body;
  await editor.openJob(article);
  const one = assetsOf(article.id, `/${asset.id}`);
  const answers = [
    await editor.upload('POST', assetsOf(article.id), PNG),
    await editor.upload('PUT', `/api/articles/${article.id}/hero`, PNG),
    await editor.call('PATCH', one, { altText: 'New' }),
    await editor.call('DELETE', one),
  ];
  for (const { status, body } of answers) expect([status, body.details.reason]).toEqual([409, 'job_running']);
  expect(await editor.storageUsed()).toBe(PNG.length);
});

it('fetches a cover from a URL through redirects, and keeps its name', async () => {
  const site = await startReceiver(({ path }, response) => {
    if (path === '/start') response.writeHead(302, { location: '/hop' }).end();
    else if (path === '/hop') response.writeHead(307, { location: `${site.origin}/a%20b.png?x=1` }).end();
    else response.writeHead(200, { 'content-type': 'text/plain' }).end(PNG);
  });
  const article = await editor.published(projectId);
  const answer = await editor.call('POST', `/api/articles/${article.id}/hero/from-url`, {
    url: `${site.origin}/start`,
    altText: 'Fetched',
  });
  await site.close();
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  expect(answer.body.asset).toMatchObject({
    role: 'hero',
    mediaType: 'image/png',
    byteSize: PNG.length,
    fileName: 'a b.png',
    altText: 'Fetched',
  });
  const host = site.origin.slice('http://'.length);
  expect(site.received.map(({ method, path, headers }) => [method, path, headers.host])).toEqual([
    ['GET', '/start', host],
    ['GET', '/hop', host],
    ['GET', '/a%20b.png?x=1', host],
  ]);
});

it('never dials what the guard refuses, first or by redirect, and gives up on what is slow, endless or no image', async () => {
  const trap = await startReceiver((_request, response) => response.end(PNG), { host: '127.0.0.2' });
  const site = await startReceiver(({ path }, response) => {
    const moves: Record<string, string> = { '/to-trap': `${trap.origin}/x.png`, '/loop': '/loop' };
    const to = moves[path];
    if (to !== undefined) response.writeHead(302, { location: to }).end();
    else if (path === '/text') response.end('not an image');
    else if (path === '/cut')
      response.writeHead(200, { 'content-length': 999 }).end(PNG, () => response.destroy());
    else response.writeHead(404).end();
  });
  const article = await editor.create(projectId);
  const refused: [string, RegExp][] = [
    [`${trap.origin}/x.png`, /does not point to a public address/],
    [`${site.origin}/to-trap`, /does not point to a public address/],
    [`${site.origin}/loop`, /answered 302/],
    [`${site.origin}/gone`, /answered 404/],
    [`${site.origin}/text`, /not a PNG/],
    [`${site.origin}/cut`, /closed/],
    ['ftp://127.0.0.1/x', /must start with http/],
    ['http://user:secret@127.0.0.1/x', /user name or password/],
    ['nonsense', /not valid/],
  ];
  for (const [url, reason] of refused) {
    const answer = await editor.call('POST', `/api/articles/${article.id}/hero/from-url`, { url });
    expect([url, answer.status, answer.body.errors?.[0].pointer]).toEqual([url, 400, '/url']);
    expect(answer.body.detail).toMatch(reason);
    expect(answer.body.detail).not.toContain('secret');
  }
  expect(trap.connections()).toBe(0);
  expect((await editor.call('GET', assetsOf(article.id))).body.assets).toEqual([]);

  const slow = await startReceiver(({ path }, response) => {
    if (path === '/endless') {
      const timer = setInterval(() => response.write(Buffer.alloc(64 * 1024)), 1);
      response.on('close', () => clearInterval(timer));
    } else {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    }
  });
  const fetchImage = createImageFetcher({
    guard: createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.1/32') }),
    timeoutMs: 500,
    maxBytes: MEBIBYTE,
  });
  const startedAt = performance.now();
  await expect(fetchImage(`${slow.origin}/drip`)).rejects.toThrow('within 0.5 seconds');
  await expect(fetchImage(`${slow.origin}/endless`)).rejects.toThrow('larger than 1048576 bytes');
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  await Promise.all([slow.close(), site.close(), trap.close()]);
});

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import sharp from 'sharp';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { createImageFetcher } from '../../src/assets/fetch-image.ts';
import type { Asset } from '../../src/assets/schemas.ts';
import { readTextBytes } from '../../src/db/quotas.ts';
import type { ServiceError } from '../../src/errors.ts';
import { createRooms, workRoomOf } from '../../src/http/rooms.ts';
import type { ProjectId } from '../../src/ids.ts';
import { storedBytesOf } from '../../src/media/media.ts';
import { parseNetworks } from '../../src/networks.ts';
import { createAddressGuard } from '../../src/outbound/resolver.ts';
import { onBehalfOf } from '../../src/threads/share.ts';
import { setLimits } from '../../src/workspaces/set-limits.ts';
import { documentOf, type Editing, editing, PNG, paragraph } from '../articles/support.ts';
import { decoders, png, useTestMedia } from '../support/images.ts';
import { startReceiver } from '../support/receiver.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const media = useTestMedia();

const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
const MEBIBYTE = 1024 * 1024;

let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;
const folder = mkdtempSync(path.join(tmpdir(), 'wcs-assets-'));
// One loopback address alone is open, so that all others can be seen to be refused.
const service = useTestService({ DATA_DIR: folder, IMAGE_ALLOWED_NETWORKS: '127.0.0.1/32' });

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});

/** What the small image takes of the quota, with its preview and thumbnail. */
const storedBytesOfPng = async () => storedBytesOf(await media.processUpload(PNG, ''));

const assetsOf = (articleId: string, more = '') => `/api/articles/${articleId}/assets${more}`;
const FAILED = /^The image could not be fetched\.$/;
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
      width: 1,
      height: 1,
      previewUrl: expect.stringMatching(new RegExp(`^/assets/${asset.id}/[0-9a-f]{16}$`)),
      thumbnailUrl: expect.stringMatching(new RegExp(`^/assets/${asset.id}/[0-9a-f]{16}$`)),
      prompt: null,
      createdAt: expect.any(String),
    },
  ]);
  expect(await editor.storageUsed()).toBe(await storedBytesOfPng());
  expect((await editor.call('GET', assetsOf(id, `/${asset.id}`))).body).toEqual({ asset });
  expect((await editor.call('GET', assetsOf(id))).body).toEqual({ assets: [asset] });

  const saved = await editor.patch(id, { documentJson: documentOf(paragraph('Text'), image(asset.id)) });
  expect(saved.body.article.contentHtml).toBe(
    `<p>Text</p>\n<figure><img src="${asset.url}" alt="A plan" width="1" height="1" loading="lazy"></figure>`,
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

// contract.md F48, F52 and F53
it('serves preview and thumbnail beside the image, which changes nothing of its own', async () => {
  const { id } = await editor.create(projectId);
  const { asset } = (await editor.upload('POST', assetsOf(id), png(1_500, 1_000))).body;
  expect(asset).toMatchObject({ width: 1_500, height: 1_000, mediaType: 'image/png' });
  for (const [url, width, height] of [
    [asset.previewUrl, 1_200, 800],
    [asset.thumbnailUrl, 320, 213],
  ]) {
    const served = await fetch(new URL(url, service.url));
    expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect(await sharp(await served.arrayBuffer()).metadata()).toMatchObject({
      format: 'webp',
      width,
      height,
    });
  }
  const saved = await editor.patch(id, { documentJson: documentOf(image(asset.id)) });
  expect(saved.body.article.contentHtml).toContain(' width="1500" height="1000" loading="lazy">');

  await service.db.updateTable('assets').set({ prompt: 'A garden' }).where('id', '=', asset.id).execute();
  const copy = (await editor.call('POST', `/api/articles/${id}/duplicate`)).body.article;
  const { assets } = (await editor.call('GET', assetsOf(copy.id))).body;
  expect(assets).toEqual([
    {
      ...asset,
      id: expect.any(String),
      articleId: copy.id,
      prompt: 'A garden',
      url: expect.any(String),
      previewUrl: asset.previewUrl.replace(asset.id, assets[0].id),
      thumbnailUrl: asset.thumbnailUrl.replace(asset.id, assets[0].id),
      createdAt: expect.any(String),
    },
  ]);
});

// contract.md F51
it("many uploads at once are stored or 503, and another workspace's requests are served meanwhile", async () => {
  const { id } = await editor.create(projectId);
  const photo = await sharp(png(3_000, 2_000)).jpeg().toBuffer();
  const other = await service.workspace();
  let done = false;
  const uploads = Promise.all(
    Array.from({ length: 24 }, () => editor.upload('POST', assetsOf(id), photo)),
  ).finally(() => {
    done = true;
  });
  let reads = 0;
  while (!done || reads === 0) {
    expect((await service.call(other.key, 'GET', '/api/whoami')).status).toBe(200);
    reads += 1;
  }
  const statuses = (await uploads).map(({ status, headers }) =>
    status === 503 ? headers.get('retry-after') && 503 : status,
  );
  expect(new Set(statuses)).toEqual(statuses.includes(503) ? new Set([201, 503]) : new Set([201]));
  const { assets } = (await editor.call('GET', assetsOf(id))).body;
  expect(assets).toHaveLength(statuses.filter((status) => status === 201).length);
});

// contract.md F51
it('an upload whose decoder is killed is 503 and leaves nothing behind; the next one is stored', async () => {
  const { id } = await editor.create(projectId);
  for (const pid of decoders()) process.kill(pid, 'SIGKILL');
  await eventually(
    async () => decoders(),
    ({ length }) => length === 0,
  );
  const upload = editor.upload('POST', assetsOf(id), png(8_000, 5_000));
  const decoding = await eventually(
    async () => decoders(),
    ({ length }) => length > 0,
  );
  for (const pid of decoding) process.kill(pid, 'SIGKILL');
  const { status, headers } = await upload;
  expect([status, headers.get('retry-after')]).toEqual([503, expect.any(String)]);
  expect((await editor.call('GET', assetsOf(id))).body.assets).toEqual([]);
  expect((await editor.upload('POST', assetsOf(id), PNG)).status).toBe(201);
});

// contract.md G116
it('no image is regenerated where no model draws: 409, and nothing is queued', async () => {
  const { id } = await editor.create(projectId);
  const { body } = await editor.upload('POST', assetsOf(id), png(30, 20));
  const regenerate = `${assetsOf(id)}/${body.asset.id}/regenerate`;
  const refused = await editor.call('POST', regenerate, { prompt: 'A bed in spring' });
  expect([refused.status, refused.body.details]).toEqual([409, { reason: 'images_unavailable' }]);
  expect((await editor.call('GET', `/api/articles/${id}/jobs`)).body.jobs).toEqual([]);
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
  const large = png(512, 512, randomBytes(3 * 512 ** 2), 0);
  const largeBytes = storedBytesOf(await media.processUpload(large, ''));
  const small = await storedBytesOfPng();
  const texts = await readTextBytes(service.db, workspace.id);
  await setLimits(workspace.context, { storageBytes: texts + largeBytes + small });
  const many = await Promise.all(Array.from({ length: 5 }, () => editor.upload('POST', assetsOf(id), large)));
  expect(many.map(({ status }) => status).sort()).toEqual([201, 429, 429, 429, 429]);
  expect((await editor.upload('PUT', `/api/articles/${id}/hero`, PNG)).status).toBe(201);
  // The cover's own bytes are free for the one that replaces it.
  expect((await editor.upload('PUT', `/api/articles/${id}/hero`, PNG)).status).toBe(201);
  expect(await editor.storageUsed()).toBe(largeBytes + small);
  expect((await editor.call('GET', assetsOf(id))).body.assets).toHaveLength(2);
});

// contract.md E7 and F16
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
  expect(await editor.storageUsed()).toBe(await storedBytesOfPng());
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
    // Whatever happens in an allowed private network: one wording, so that it is no map of that network.
    [`${site.origin}/to-trap`, FAILED],
    [`${site.origin}/loop`, FAILED],
    [`${site.origin}/gone`, FAILED],
    [`${site.origin}/text`, FAILED],
    [`${site.origin}/cut`, FAILED],
    ['http://127.0.0.1:8/x.png', FAILED],
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
  const detailed = createImageFetcher({
    media,
    guard: createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.1/32') }),
    isPublic: () => true,
  });
  for (const [path, reason] of [
    ['/to-trap', 'does not point to a public address'],
    ['/loop', 'responded with 302'],
    ['/gone', 'responded with 404'],
    ['/text', 'not a PNG'],
    ['/cut', 'closed'],
  ]) {
    await expect(detailed(site.origin + path)).rejects.toThrow(reason);
  }
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
    media,
    guard: createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.1/32') }),
    timeoutMs: 500,
    maxBytes: MEBIBYTE,
    isPublic: () => true,
  });
  const startedAt = performance.now();
  const fetched = (path: string) => fetchImage(slow.origin + path);
  await expect(fetched('/drip')).rejects.toThrow('within 0.5 seconds');
  await expect(fetched('/endless')).rejects.toThrow('larger than 1048576 bytes');
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  await Promise.all([slow.close(), site.close(), trap.close()]);
});

// contract.md F19
it('an image is sent as fast as it is taken: who takes nothing of many keeps none of them in memory', async () => {
  const { id } = await editor.create(projectId);
  const large = png(2_576, 2_576, randomBytes(3 * 2_576 ** 2), 0);
  const { asset } = (await editor.upload('POST', assetsOf(id), large)).body;
  const whole = await fetch(new URL(asset.url, service.url));
  expect(whole.headers.get('content-length')).toBe(String(large.length));
  expect(large.equals(Buffer.from(await whole.arrayBuffer()))).toBe(true);
  const head = await fetch(new URL(asset.url, service.url), { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(large.length)]);

  const { hostname, port } = new URL(service.url);
  const before = process.memoryUsage().external;
  const readers = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const socket = connect(Number(port), hostname);
      socket.write(`GET ${asset.url} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await once(socket, 'readable');
      return socket;
    }),
  );
  const grown = (process.memoryUsage().external - before) / MEBIBYTE;
  for (const socket of readers) socket.destroy();
  expect(grown).toBeLessThan(60);
});

// contract.md F30
it('a workspace fetches four images at once and others are not held up; each request is on record before it leaves', async () => {
  const hanging = new Set<ServerResponse>();
  const site = await startReceiver(({ path }, response) => {
    if (path === '/fine.png') response.end(PNG);
    else hanging.add(response);
  });
  const articles = await Promise.all(Array.from({ length: 12 }, () => editor.create(projectId)));
  const fetchInto = (id: string, path: string) =>
    editor.call('POST', `/api/articles/${id}/hero/from-url`, { url: site.origin + path });
  const answers = articles.map(({ id }) => fetchInto(id, '/hangs'));
  const refused = articles.length - 4;
  const statuses: number[] = [];
  for (const answer of answers) void answer.then(({ status }) => statuses.push(status));
  await eventually(
    async () => statuses.length,
    (count) => count === refused,
    10_000,
  );
  expect(statuses).toEqual(Array(refused).fill(429));
  expect([hanging.size, site.connections()]).toEqual([4, 4]);
  const { host } = new URL(site.origin);
  const requested = () =>
    service.db
      .selectFrom('audit_entries')
      .select('details')
      .where('workspace_id', '=', workspace.id)
      .where('action', '=', 'assets.requested')
      .execute();
  expect(await requested()).toEqual(Array(4).fill({ details: { host } }));

  const another = await service.workspace();
  const { id } = await editing(service, another).create(await service.project(another));
  const fine = { url: `${site.origin}/fine.png` };
  expect((await service.call(another.key, 'POST', `/api/articles/${id}/hero/from-url`, fine)).status).toBe(
    201,
  );
  for (const response of hanging) response.destroy();
  await Promise.all(answers);
  expect((await fetchInto(articles[0]?.id ?? '', '/fine.png')).status).toBe(201);
  await site.close();
});

// contract.md F30
it('a process fetches twenty images at once, of however many workspaces', async () => {
  const hanging = new Set<ServerResponse>();
  const site = await startReceiver((_request, response) => void hanging.add(response));
  const statuses: number[] = [];
  const answers: Promise<unknown>[] = [];
  for (let index = 0; index < 6; index += 1) {
    const own = await service.workspace();
    const project = await service.project(own);
    for (let image = 0; image < 4; image += 1) {
      const { id } = await editing(service, own).create(project);
      const answer = service.call(own.key, 'POST', `/api/articles/${id}/hero/from-url`, { url: site.url });
      answers.push(answer.then(({ status }) => statuses.push(status)));
    }
  }
  await eventually(
    async () => statuses.length,
    (count) => count === 4,
    10_000,
  );
  expect(statuses).toEqual(Array(4).fill(429));
  expect(hanging.size).toBe(20);
  for (const response of hanging) response.destroy();
  await Promise.all(answers);
  await site.close();
});

// contract.md F19
it('images that are fetched take room of their requests: who finds none is 503, and others are served', async () => {
  const endless = new Set<ServerResponse>();
  const site = await startReceiver(({ path }, response) => {
    if (path === '/small') response.writeHead(200, { 'content-length': PNG.length }).end(PNG);
    else endless.add(response.writeHead(200, { 'content-length': 20 * MEBIBYTE }));
    if (path !== '/small') response.write(PNG);
  });
  const fetchImage = createImageFetcher({
    media,
    guard: createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.1/32') }),
    isPublic: () => true,
  });
  const { workspaces } = createRooms();
  const fetched = async (owner: string, path: string) => {
    const held = workspaces.open(owner);
    try {
      const { image } = await onBehalfOf(owner, () => fetchImage(site.origin + path), {
        room: workRoomOf(held, 0, 300),
      });
      return image.bytes.length;
    } catch (error) {
      return (error as ServiceError).code;
    } finally {
      held.release();
    }
  };
  const first = fetched('a', '/large');
  await eventually(
    async () => workspaces.held(),
    (bytes) => bytes === 24 * MEBIBYTE,
  );
  expect(await fetched('a', '/large')).toBe('SERVICE_UNAVAILABLE');
  expect([await fetched('a', '/small'), await fetched('b', '/small')]).toEqual([PNG.length, PNG.length]);
  const others = [fetched('b', '/large'), fetched('c', '/large')];
  await eventually(
    async () => workspaces.held(),
    (bytes) => bytes === 72 * MEBIBYTE,
  );
  expect(await fetched('d', '/large')).toBe('SERVICE_UNAVAILABLE');
  for (const response of endless) response.destroy();
  expect(await Promise.all([first, ...others])).toEqual(Array(3).fill('INVALID_REQUEST'));
  expect([await fetched('d', '/small'), workspaces.held()]).toEqual([PNG.length, 0]);
  await site.close();
});

// contract.md F18
it('an article has room for 1,000 images; one that has more can be duplicated all the same', async () => {
  const article = await editor.create(projectId);
  const add = (count: number) =>
    sql`
      INSERT INTO assets (id, workspace_id, article_id, role, content_hash, media_type, byte_size, file_name, alt_text)
      SELECT gen_random_uuid(), ${workspace.id}, ${article.id}, 'inline', repeat('0', 64), 'image/png', 8, 'x', ''
      FROM generate_series(1, ${count}::integer)`.execute(service.db);
  await add(999);
  expect((await editor.upload('POST', assetsOf(article.id), PNG)).status).toBe(201);
  const refused = await editor.upload('POST', assetsOf(article.id), PNG);
  expect([refused.status, refused.body.details]).toEqual([409, { reason: 'image_limit' }]);
  // The cover is none of them.
  expect((await editor.upload('PUT', `/api/articles/${article.id}/hero`, PNG)).status).toBe(201);
  await add(7_000);
  const copy = await editor.call('POST', `/api/articles/${article.id}/duplicate`);
  expect(copy.status).toBe(201);
  const { assets } = (await editor.call('GET', assetsOf(copy.body.article.id))).body;
  expect(assets).toHaveLength(8_001);
});

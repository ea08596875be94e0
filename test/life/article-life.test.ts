import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import { EVENT_TYPES } from '../../src/events/catalog.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { type Editing, editing, PNG } from '../articles/support.ts';
import { rowsOf } from '../support/events.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

let receiver: Receiver;
let workspace: TestWorkspace;
let editor: Editing;
let secret: string;
const folder = mkdtempSync(path.join(tmpdir(), 'wcs-life-'));
// A workspace has one connection then: whoever held it and asked for another would wait in vain.
const service = useTestService({ DATA_DIR: folder, DATABASE_POOL_SIZE: '2' });

beforeAll(async () => {
  receiver = await startReceiver();
  workspace = await service.workspace();
  editor = editing(service, workspace);
  await service.startWorker();
  const { body } = await editor.call('POST', `/api/workspaces/${workspace.id}/webhooks`, {
    url: receiver.url,
    events: EVENT_TYPES,
  });
  secret = body.secret;
});
afterAll(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

// contract.md E1
it('an article lives from draft to deletion, and receivers get exactly the events of the contract', async () => {
  const projectId = await service.project(workspace, ['en', 'es']);
  const expected: { event: string; data: Record<string, unknown> }[] = [];
  const expectEvent = (event: string, data: Record<string, unknown>) => expected.push({ event, data });
  const setOf = (article: Article, status: string = article.status) => ({
    articleId: article.id,
    workspaceId: workspace.id,
    projectId,
    slug: article.slug,
    status,
    primaryLanguage: article.primaryLanguage,
    translationGroupId: article.translationGroupId,
    title: article.title,
  });

  // A draft: created and edited.
  const draft = await editor.create(projectId, { title: 'A garden in spring' });
  const { id } = draft;
  expectEvent('article.created', { articleId: id, projectId, title: 'A garden in spring' });
  await editor.patch(id, { metaTitle: 'Spring' });

  // Through review, with one round of changes, to publication.
  await editor.submit(id);
  const first = await editor.review(id, 'changes_requested');
  expectEvent('article.rejected', {
    articleId: id,
    reviewId: first.body.review.id,
    decision: 'changes_requested',
  });
  await editor.submit(id);
  const second = await editor.review(id, 'approved');
  expectEvent('article.approved', {
    articleId: id,
    reviewId: second.body.review.id,
    previousStatus: 'NEEDS_REVIEW',
  });
  const published: Article = (await editor.publish(id)).body.article;
  expectEvent('article.published', setOf(published));

  // Published: its categories, its cover, twice, and its text change.
  const category = await editor.call('POST', `/api/workspaces/${workspace.id}/categories`, {
    primaryLanguage: 'en',
    translations: [{ language: 'en', name: 'Gardens' }],
  });
  await editor.call('PUT', `/api/articles/${id}/categories`, { categoryIds: [category.body.category.id] });
  expectEvent('article.updated', { ...setOf(published), changed: ['categories'] });
  await editor.upload('PUT', `/api/articles/${id}/hero`, PNG);
  expectEvent('article.updated', { ...setOf(published), changed: ['content'] });
  const cover = await editor.upload('PUT', `/api/articles/${id}/hero`, PNG);
  expectEvent('image.regenerated', { articleId: id, assetId: cover.body.asset.id, type: 'hero' });
  expectEvent('article.updated', { ...setOf(published), changed: ['content'] });
  const etag = (await editor.call('GET', `/api/articles/${id}`)).headers.get('etag') ?? '';
  expect((await editor.patch(id, { targetKeywords: ['garden'] }, etag)).status).toBe(200);
  expectEvent('article.updated', { ...setOf(published), changed: ['targetKeywords'] });

  // Translated by the real workflow.
  const queued = await editor.call('POST', `/api/articles/${id}/translations`, { language: 'es' });
  expect(queued.status).toBe(202);
  const translatedId: string = queued.body.article.id;
  expectEvent('article.created', { articleId: translatedId, projectId, title: 'A garden in spring' });
  const job = await translating(service).untilFinal(workspace, queued.body.job.id);
  expect(job.status).toBe('COMPLETED');
  const translated = await editor.read(translatedId);
  expect(translated).toMatchObject({
    status: 'NEEDS_REVIEW',
    contentHtml: expect.stringContaining('<p>'),
    translationGroupId: published.translationGroupId,
  });
  const approved = await editor.review(translatedId, 'approved');
  expectEvent('article.approved', {
    articleId: translatedId,
    reviewId: approved.body.review.id,
    previousStatus: 'NEEDS_REVIEW',
  });
  const inSpanish: Article = (await editor.publish(translatedId)).body.article;
  expectEvent('article.published', setOf(inSpanish));

  // Renamed.
  const renamed: Article = (await editor.patch(id, { title: 'A garden in early spring' })).body.article;
  expect(renamed.slug).toBe('a-garden-in-early-spring');
  expectEvent('article.updated', {
    ...setOf(renamed),
    changed: ['title', 'slug'],
    previousSlug: 'a-garden-in-spring',
  });

  // Unpublished, its translation sent back, and both deleted: one as a draft, one while published.
  const unpublished: Article = (await editor.unpublish(id)).body.article;
  expect(unpublished.publishedAt).toBe(published.publishedAt);
  expectEvent('article.unpublished', {
    ...setOf(renamed, 'DRAFT'),
    previousStatus: 'PUBLISHED',
    reason: 'status_changed',
  });
  const back = await editor.review(translatedId, 'rejected');
  expectEvent('article.rejected', {
    articleId: translatedId,
    reviewId: back.body.review.id,
    decision: 'rejected',
  });
  expectEvent('article.unpublished', {
    ...setOf(inSpanish, 'CHANGES_REQUESTED'),
    previousStatus: 'PUBLISHED',
    reason: 'status_changed',
  });
  await editor.submit(translatedId);
  const last = await editor.review(translatedId, 'approved');
  expectEvent('article.approved', {
    articleId: translatedId,
    reviewId: last.body.review.id,
    previousStatus: 'NEEDS_REVIEW',
  });
  await editor.publish(translatedId);
  expectEvent('article.published', setOf(inSpanish, 'PUBLISHED'));
  expect((await editor.remove(id)).status).toBe(200);
  expect((await editor.remove(translatedId)).status).toBe(200);
  expectEvent('article.unpublished', {
    ...setOf(inSpanish, 'DELETED'),
    previousStatus: 'PUBLISHED',
    reason: 'deleted',
  });

  // What came after the last delivery would be one event too many: nothing may be open.
  await eventually(
    () => rowsOf(service, workspace),
    (deliveries) => deliveries.every(({ status }) => status === 'succeeded'),
  );
  // Deliveries come in any order, and one may come twice.
  const once = new Map(receiver.received.map((entry) => [entry.headers['x-service-delivery'], entry]));
  const inOrder = (events: { event: string; data: Record<string, unknown> }[]) =>
    events.map((event) => JSON.stringify(sorted(event))).sort();
  expect(inOrder([...once.values()].map(({ body }) => body))).toEqual(inOrder(expected));
  for (const { raw, headers } of receiver.received) {
    expect(() => verifyWebhook(raw, headers, secret)).not.toThrow();
  }
  expect(await editor.storageUsed()).toBe(0);
  const { body } = await editor.call('GET', `/api/workspaces/${workspace.id}/articles`);
  expect(body.articles).toEqual([]);
});

/** The same value with its fields in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import { readTextBytes } from '../../src/db/quotas.ts';
import type { ArticleId, ProjectId } from '../../src/ids.ts';
import { setLimits } from '../../src/workspaces/set-limits.ts';
import { createArticle } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { documentOf, type Editing, editing, PNG, paragraph } from './support.ts';

let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;
const folder = mkdtempSync(path.join(tmpdir(), 'wcs-articles-'));
const service = useTestService({ DATA_DIR: folder });

beforeAll(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

// contract.md E2
it('duplicates content, images and categories into a new group, within the storage quota', async () => {
  const source = await editor.published(projectId, { title: 'Original', metaTitle: 'Meta' });
  const upload = await editor.upload('POST', `/api/articles/${source.id}/assets?altText=Dot`, PNG);
  const image = { id: 'i', type: 'image', assetId: upload.body.asset.id, altText: '' };
  await editor.patch(source.id, { documentJson: documentOf(paragraph('Words here.'), image) });
  const category = await editor.call('POST', `/api/workspaces/${workspace.id}/categories`, {
    primaryLanguage: 'en',
    translations: [{ language: 'en', name: 'Gardens' }],
  });
  const categoryIds = [category.body.category.id];
  await editor.call('PUT', `/api/articles/${source.id}/categories`, { categoryIds });
  const used = await editor.storageUsed();

  const response = await editor.call('POST', `/api/articles/${source.id}/duplicate`);
  expect(response.status).toBe(201);
  const copy: Article = response.body.article;
  const original = await editor.read(source.id);
  expect(copy).toMatchObject({
    title: 'Original',
    slug: 'original-2',
    status: 'DRAFT',
    metaTitle: 'Meta',
    publishedAt: null,
    wordCount: original.wordCount,
  });
  expect(copy.translationGroupId).not.toBe(original.translationGroupId);
  const { assets } = (await editor.call('GET', `/api/articles/${copy.id}/assets`)).body;
  expect(assets).toHaveLength(1);
  expect(assets[0].id).not.toBe(image.assetId);
  expect(copy.documentJson.blocks[1]).toEqual({ ...image, assetId: assets[0].id });
  expect(copy.contentHtml).toContain(
    `<img src="${assets[0].url}" alt="Dot" width="1" height="1" loading="lazy">`,
  );
  const list = await editor.call(
    'GET',
    `/api/workspaces/${workspace.id}/articles?categoryId=${categoryIds[0]}`,
  );
  expect(list.body.articles.map(({ id }: Article) => id)).toEqual([copy.id, source.id]);
  expect(await editor.events(copy.id)).toEqual([
    { event: 'article.created', data: { articleId: copy.id, projectId, title: 'Original' } },
  ]);
  expect(await editor.storageUsed()).toBe(2 * used);

  const texts = await readTextBytes(service.db, workspace.id);
  await setLimits(workspace.context, { storageBytes: texts + 2 * used });
  const full = await editor.call('POST', `/api/articles/${source.id}/duplicate`, { title: 'No room' });
  expect([full.status, full.body.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  expect((await editor.remove(copy.id)).status).toBe(200);
  expect(await editor.storageUsed()).toBe(used);
  await setLimits(workspace.context, { storageBytes: 1_000_000 });
});

// contract.md E6 and E11
it('deleting takes reviews, redirects, assets and jobs along, and tells that a PUBLISHED one is gone', async () => {
  const { id } = await editor.published(projectId, { title: 'Short life' });
  await editor.patch(id, { title: 'Shorter life' });
  expect((await editor.remove(id)).body).toEqual({ ok: true });
  expect((await editor.remove(id)).status).toBe(404);
  for (const table of ['reviews', 'article_slug_redirects', 'assets', 'jobs'] as const) {
    const rows = await service.db
      .selectFrom(table)
      .select('article_id')
      .where('article_id', '=', id as ArticleId)
      .execute();
    expect(rows).toEqual([]);
  }
  expect((await editor.eventTypes(id)).at(-1)).toBe('article.unpublished');
  const draft = await editor.create(projectId);
  await editor.remove(draft.id);
  expect(await editor.eventTypes(draft.id)).toEqual(['article.created']);
});

it('lists by every filter, newest first, each article once, and versions by language', async () => {
  const other = await service.workspace();
  const mine = editing(service, other);
  const [projectA, projectB] = [await service.project(other), await service.project(other)];
  const made: Article[] = [];
  for (let index = 0; index < 7; index += 1) {
    made.unshift(
      await mine.create(index % 2 === 0 ? projectA : projectB, {
        title: `Article ${index}`,
        primaryLanguage: index % 3 === 0 ? 'es' : 'en',
      }),
    );
  }
  const [newest] = made;
  await mine.submit(newest?.id ?? '');
  const listed = async (query: string): Promise<string[]> => {
    const ids: string[] = [];
    let cursor: string | null = '';
    do {
      const { status, body } = await mine.call(
        'GET',
        `/api/workspaces/${other.id}/articles?limit=2${query}${cursor && `&cursor=${cursor}`}`,
      );
      expect(status).toBe(200);
      expect(body.articles.length).toBeLessThanOrEqual(2);
      ids.push(...body.articles.map(({ id }: Article) => id));
      cursor = body.nextCursor;
    } while (cursor !== null);
    return ids;
  };
  const ids = (wanted: (article: Article) => boolean) => made.filter(wanted).map(({ id }) => id);
  expect(await listed('')).toEqual(ids(() => true));
  expect(await listed(`&projectId=${projectA}`)).toEqual(ids((article) => article.projectId === projectA));
  expect(await listed('&language=ES')).toEqual(ids((article) => article.primaryLanguage === 'es'));
  expect(await listed('&status=DRAFT')).toEqual(ids((article) => article !== newest));
  expect(await listed(`&projectId=${projectB}&status=DRAFT&language=en`)).toEqual(
    ids((article) => article.projectId === projectB && article.primaryLanguage === 'en'),
  );
  expect(await listed(`&projectId=${projectId}`)).toEqual([]);
  for (const query of ['limit=0', 'limit=101', 'status=GONE', 'language=%20', 'projectId=x', 'cursor=x']) {
    const response = await mine.call('GET', `/api/workspaces/${other.id}/articles?${query}`);
    expect([response.status, response.body.errors?.[0].pointer]).toEqual([
      400,
      `query/${query.split('=')[0]}`,
    ]);
  }

  const source = await createArticle(service.db, other, projectA, { title: 'Source' });
  await mine.call('POST', `/api/articles/${source.id}/translations`, { language: 'de' });
  const { body } = await mine.call('GET', `/api/articles/${source.id}/versions`);
  expect(body.versions.map((version: Article) => [version.primaryLanguage, version.status])).toEqual([
    ['de', 'QUEUED'],
    ['en', 'DRAFT'],
  ]);
  expect(body.versions[0]).not.toHaveProperty('documentJson');
});

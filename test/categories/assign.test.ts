import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Category } from '../../src/categories/schemas.ts';
import type { ArticleStatus } from '../../src/db/tables.ts';
import type { ProjectId } from '../../src/ids.ts';
import { createArticle, type TestArticle } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { categoryCalls } from './support.ts';

const service = useTestService();

let calls: ReturnType<typeof categoryCalls>;
let workspace: TestWorkspace;
let projectId: ProjectId;
beforeAll(async () => {
  calls = categoryCalls(service);
});
beforeEach(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
});

const article = (status: ArticleStatus, title?: string): Promise<TestArticle> =>
  createArticle(service.db, workspace, projectId, { status, ...(title === undefined ? {} : { title }) });

const categories = async (...names: string[]): Promise<Category[]> => {
  const made: Category[] = [];
  for (const name of names) made.push(await calls.category(workspace, { en: name, de: name }));
  return made;
};

/** The bytes that tell of a change of the article's categories. */
const updated = (row: TestArticle): string =>
  JSON.stringify({
    event: 'article.updated',
    data: {
      articleId: row.id,
      workspaceId: row.workspace_id,
      projectId: row.project_id,
      slug: row.slug,
      status: 'PUBLISHED',
      primaryLanguage: row.primary_language,
      translationGroupId: row.translation_group_id,
      title: row.title,
      changed: ['categories'],
    },
  });

const ids = (response: { body: { categories: { id: string }[] } }) =>
  response.body.categories.map(({ id }) => id);
const countOf = async (id: string): Promise<number> =>
  (await calls.list(workspace)).find((category: { id: string }) => category.id === id).articleCount;

describe('assigning categories', () => {
  // contract.md C14 and C19
  it('replaces the set, keeps the order given, counts a repeat once, and returns the reduced shape', async () => {
    const draft = await article('DRAFT');
    const [a, b, c] = (await categories('A', 'B', 'C')).map(({ id }) => id);
    if (a === undefined || b === undefined || c === undefined) throw new Error('unreachable');
    const first = await calls.assign(workspace, draft.id, [c, a.toUpperCase(), c, a]);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      categories: [
        [c, 'C', 'c'],
        [a, 'A', 'a'],
      ].map(([id, name, slug]) => ({
        id,
        primaryLanguage: 'en',
        translations: [
          { language: 'de', name, slug },
          { language: 'en', name, slug },
        ],
      })),
    });
    expect(ids(await calls.assign(workspace, draft.id, [a, b]))).toEqual([a, b]);
    expect([await countOf(a), await countOf(b), await countOf(c)]).toEqual([1, 1, 0]);
    expect((await calls.assign(workspace, draft.id, [])).body).toEqual({ categories: [] });
    expect(await countOf(a)).toBe(0);
    expect(
      (await calls.audit(workspace, 'articles.categories_assigned')).map(({ details }) => details),
    ).toEqual([
      { before: [], after: [c, a] },
      { before: [c, a], after: [a, b] },
      { before: [a, b], after: [] },
    ]);
    expect(await calls.events(workspace)).toEqual([]);
  });

  // contract.md C16
  it('sends an event for a PUBLISHED article whose set changed, once and in the exact bytes, and not of a new order', async () => {
    const page = await article('PUBLISHED', 'Tab\there, "quotes", \\ and \u2028 园艺 🌱 </script>');
    const [a, b] = (await categories('A', 'B')).map(({ id }) => id);
    if (a === undefined || b === undefined) throw new Error('unreachable');
    const subscriber = await calls.endpoint(workspace, ['article.updated', 'article.created']);
    await calls.endpoint(workspace, ['article.created']);
    await calls.endpoint(workspace, ['article.updated'], false);

    await calls.assign(workspace, page.id, [a, b]);
    expect((await calls.events(workspace)).map(({ text }) => text)).toEqual([updated(page)]);
    expect(await calls.deliveries(workspace)).toEqual([
      { endpoint_id: subscriber, event_type: 'article.updated', article_id: page.id },
    ]);
    expect(ids(await calls.assign(workspace, page.id, [a, b, b]))).toEqual([a, b]);
    expect(ids(await calls.assign(workspace, page.id, [b, a]))).toEqual([b, a]);
    expect(await calls.events(workspace)).toHaveLength(1);
    const links = await service.db
      .selectFrom('article_categories')
      .select('category_id')
      .where('article_id', '=', page.id)
      .orderBy('position')
      .execute();
    expect(links.map((link) => link.category_id)).toEqual([b, a]);
    await calls.assign(workspace, page.id, [b]);
    expect(await calls.events(workspace)).toHaveLength(2);
    expect(
      (await service.call(workspace.key, 'GET', `/api/articles/${page.id}`)).body.article.updatedAt,
    ).toBe(page.updated_at.toISOString());
  });

  // contract.md C15
  it('takes up to 50 ids, repeats included, and names every id that is no category of the workspace', async () => {
    const draft = await article('DRAFT');
    const [own] = await categories('Own');
    const foreign = await calls.category(await service.workspace(), { en: 'Foreign' });
    if (own === undefined) throw new Error('unreachable');
    await calls.assign(workspace, draft.id, [own.id]);
    const expectInvalid = async (body: unknown, ...pointers: string[]) => {
      const response = await service.call(workspace.key, 'PUT', `/api/articles/${draft.id}/categories`, body);
      expect(response).toMatchObject({
        status: 400,
        body: { code: 'INVALID_REQUEST', errors: pointers.map((pointer) => ({ pointer })) },
      });
    };
    expect((await calls.assign(workspace, draft.id, Array<string>(50).fill(own.id))).status).toBe(200);
    await expectInvalid({ categoryIds: Array<string>(51).fill(own.id) }, '/categoryIds');
    await expectInvalid(
      { categoryIds: [own.id, foreign.id, crypto.randomUUID()] },
      '/categoryIds/1',
      '/categoryIds/2',
    );
    await expectInvalid({ categoryIds: ['nonsense', null] }, '/categoryIds/0', '/categoryIds/1');
    await expectInvalid({ categoryIds: null }, '/categoryIds');
    await expectInvalid({}, '/categoryIds');
    expect(await countOf(own.id)).toBe(1);
  });

  it('works while a job runs on the article, and so do renames and deletions', async () => {
    const source = await article('APPROVED');
    const [a] = await categories('A');
    if (a === undefined) throw new Error('unreachable');
    await calls.assign(workspace, source.id, [a.id]);
    const response = await service.call(workspace.key, 'POST', `/api/articles/${source.id}/translations`, {
      language: 'es',
    });
    expect(response.status).toBe(202);
    expect(await countOf(a.id)).toBe(2);
    expect((await calls.rename(workspace, a.id, { en: 'Renamed' })).status).toBe(200);
    expect((await calls.assign(workspace, response.body.article.id, [])).status).toBe(200);
    expect((await calls.remove(workspace, a.id)).body).toEqual({ ok: true, articleCount: 1 });
  });
});

describe('a change of a category', () => {
  // contract.md C10
  it('sends an event for every published article that carries it, whatever the change, and no other, once per endpoint', async () => {
    const [changing, other] = await categories('Changing', 'Other');
    if (changing === undefined || other === undefined) throw new Error('unreachable');
    const published = [await article('PUBLISHED', 'One'), await article('PUBLISHED', 'Two "2"')];
    const silent = [await article('DRAFT'), await article('APPROVED'), await article('NEEDS_REVIEW')];
    for (const { id } of [...published, ...silent]) {
      await calls.assign(workspace, id, [other.id, changing.id]);
    }
    await calls.assign(workspace, (await article('PUBLISHED', 'Bystander')).id, [other.id]);
    const endpoints = [
      await calls.endpoint(workspace, ['article.updated']),
      await calls.endpoint(workspace, ['article.published', 'article.updated']),
      await calls.endpoint(workspace, ['article.updated']),
    ];
    await calls.endpoint(workspace, ['article.published']);

    const changes: (() => Promise<{ status: number }>)[] = [
      () => calls.rename(workspace, changing.id, { en: 'Changed' }),
      () => calls.rename(workspace, changing.id, { es: 'Cambiado' }),
      () => calls.patch(workspace, changing.id, { removeLanguages: ['es'] }),
      () => calls.patch(workspace, changing.id, { primaryLanguage: 'de' }),
      () => calls.remove(workspace, changing.id),
    ];
    for (const change of changes) {
      await calls.forgetEvents(workspace);
      expect((await change()).status).toBe(200);
      const events = await calls.events(workspace);
      expect(events.map(({ text }) => text).sort()).toEqual(published.map(updated).sort());
      const pairs = (await calls.deliveries(workspace)).map((row) => `${row.endpoint_id} ${row.article_id}`);
      expect(pairs.sort()).toEqual(
        endpoints.flatMap((endpoint) => published.map(({ id }) => `${endpoint} ${id}`)).sort(),
      );
    }
    const [deleted] = await calls.audit(workspace, 'categories.deleted');
    expect(deleted).toMatchObject({ target_id: changing.id, details: { articles: 5, announced: 2 } });
    expect(await calls.audit(workspace, 'categories.updated')).toMatchObject([
      {
        details: {
          names: [{ language: 'en', before: 'Changing', after: 'Changed' }],
          articles: 5,
          announced: 2,
        },
      },
      { details: { names: [{ language: 'es', before: null, after: 'Cambiado' }] } },
      { details: { names: [{ language: 'es', before: 'Cambiado', after: null }] } },
      { details: { primaryLanguage: { before: 'en', after: 'de' }, names: [] } },
    ]);
  });

  // contract.md C12 and C19
  it('that deletes it returns the count of articles that carried it, removes its links, and frees its names', async () => {
    const [category] = await categories('Gone');
    if (category === undefined) throw new Error('unreachable');
    for (const status of ['DRAFT', 'PUBLISHED', 'QUEUED'] as const) {
      await calls.assign(workspace, (await article(status)).id, [category.id]);
    }
    expect(await calls.remove(workspace, category.id)).toMatchObject({
      status: 200,
      body: { ok: true, articleCount: 3 },
    });
    expect(await calls.list(workspace)).toEqual([]);
    expect((await calls.remove(workspace, category.id)).status).toBe(404);
    expect((await calls.create(workspace, { en: 'GONE' })).status).toBe(201);
  });
});

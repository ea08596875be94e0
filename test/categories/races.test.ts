import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CategoryId } from '../../src/ids.ts';
import { createArticle, type TestArticle } from '../support/articles.ts';
import { type Answer, type TestWorkspace, useTestService } from '../support/service.ts';
import { categoryCalls, publishMany } from './support.ts';

const service = useTestService();

const ROUNDS = 100;

let calls: ReturnType<typeof categoryCalls>;
let workspace: TestWorkspace;
beforeAll(async () => {
  calls = categoryCalls(service);
  workspace = await service.workspace();
});
afterAll(async () => {
  // A deadlock that a retry hid from the client would still be one. Backends report once a second.
  await sleep(1_500);
  const { rows } = await sql<{ deadlocks: number }>`
    SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`.execute(service.db);
  expect(rows).toEqual([{ deadlocks: 0 }]);
});

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort();

const published = async (own: TestWorkspace, count: number): Promise<TestArticle[]> => {
  const projectId = await service.project(own);
  return Promise.all(
    Array.from({ length: count }, () => createArticle(service.db, own, projectId, { status: 'PUBLISHED' })),
  );
};

// contract.md C5
test('of two creates of one name in different case at once, one succeeds and one is 409: 100 rounds', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const answers = await Promise.all([
      calls.create(workspace, { en: `Straße ${round}`, de: `eins ${round}` }),
      calls.create(workspace, { fr: `deux ${round}`, en: `STRASSE ${round}` }),
    ]);
    expect(statuses(answers)).toEqual([201, 409]);
  }
});

test('of two renames to one name in different case at once, one succeeds and one is 409: 100 rounds', async () => {
  const first = await calls.category(workspace, { en: 'First', de: 'Erste' });
  const second = await calls.category(workspace, { en: 'Second', de: 'Zweite' });
  for (let round = 0; round < ROUNDS; round += 1) {
    const answers = await Promise.all([
      calls.rename(workspace, first.id, { en: `garden ${round}`, de: `garten ${round}` }),
      calls.rename(workspace, second.id, { de: `GARTEN ${round}`, en: `GARDEN ${round}` }),
    ]);
    expect(statuses(answers)).toEqual([200, 409]);
  }
});

test('names of one slug at once all succeed with the suffixes from 2 on, created and renamed', async () => {
  const own = await service.workspace();
  const renamed = await Promise.all(
    Array.from({ length: 5 }, (_, index) => calls.category(own, { en: `Renamed ${index}` })),
  );
  const answers = await Promise.all([
    ...renamed.map(({ id }, index) => calls.rename(own, id, { en: `same${'!'.repeat(index + 1)}` })),
    ...Array.from({ length: 10 }, (_, index) => calls.create(own, { en: `same${'?'.repeat(index + 1)}` })),
  ]);
  expect(statuses(answers)).toEqual([...Array(5).fill(200), ...Array(10).fill(201)]);
  const slugs: string[] = answers.map(({ body }) => body.category.translations[0].slug);
  const expected = ['same', ...Array.from({ length: 14 }, (_, index) => `same-${index + 2}`)];
  expect(slugs.sort()).toEqual(expected.sort());
});

test('a category deleted while it is assigned is carried by nothing afterwards, and no request gets a 5xx: 100 rounds', async () => {
  const own = await service.workspace();
  const articles = await published(own, 3);
  const kept = await calls.category(own, { en: 'Kept' });
  const seen = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const doomed = await calls.category(own, { en: `Doomed ${round}` });
    const [removed, ...assigned] = await Promise.all([
      sleep(round % 5).then(() => calls.remove(own, doomed.id)),
      ...articles.map(({ id }, index) =>
        calls.assign(own, id, index % 2 === 0 ? [doomed.id, kept.id] : [kept.id, doomed.id]),
      ),
      // Takes it off again, which meets the deletion at the link's row.
      calls.assign(own, articles[0]?.id ?? '', [kept.id]),
    ]);
    expect(removed.status).toBe(200);
    for (const { status } of assigned) {
      expect([200, 400]).toContain(status);
      seen.add(`${status} ${removed.body.articleCount}`);
    }
    const after = await calls.list(own);
    expect(after.map(({ id }: { id: string }) => id)).not.toContain(doomed.id);
  }
  // Both orders have happened: deleted first, and assigned first.
  expect(seen.size).toBeGreaterThan(1);
});

test('an endpoint deleted while a rename fans out costs neither a 5xx nor an event: 100 rounds', async () => {
  const own = await service.workspace();
  const category = await calls.category(own, { en: 'Fan' });
  const carriers = await published(own, 20);
  for (const { id } of carriers) await calls.assign(own, id, [category.id]);
  const staying = await calls.endpoint(own, ['article.updated']);
  await calls.forgetEvents(own);
  for (let round = 0; round < ROUNDS; round += 1) {
    const leaving = await calls.endpoint(own, ['article.updated']);
    const answers = await Promise.all([
      calls.rename(own, category.id, { en: `Fan ${round}` }),
      sleep(round % 5).then(() =>
        service.call(own.key, 'DELETE', `/api/workspaces/${own.id}/webhooks/${leaving}`),
      ),
    ]);
    expect(statuses(answers)).toEqual([200, 200]);
  }
  expect(await calls.events(own)).toHaveLength(ROUNDS * carriers.length);
  const deliveries = await calls.deliveries(own);
  const kept = deliveries.filter((row) => row.endpoint_id === staying);
  expect(kept).toHaveLength(ROUNDS * carriers.length);
});

test('an article assigned while its category is renamed gets an event with the new name: 100 rounds', async () => {
  const own = await service.workspace();
  const ownProject = await service.project(own);
  const category = await calls.category(own, { en: 'Name' });
  await calls.endpoint(own, ['article.updated']);
  const page = await createArticle(service.db, own, ownProject, { status: 'PUBLISHED' });
  for (let round = 0; round < ROUNDS; round += 1) {
    await calls.assign(own, page.id, []);
    await calls.forgetEvents(own);
    const [renamed, assigned] = await Promise.all([
      calls.rename(own, category.id, { en: `Name ${round}` }),
      sleep(round % 4).then(() => calls.assign(own, page.id, [category.id])),
    ]);
    expect(statuses([renamed, assigned])).toEqual([200, 200]);
    // Assigned after the rename it was told once, with the new name; before it, once more for the rename.
    const isAfter = assigned.body.categories[0].translations[0].name === `Name ${round}`;
    expect(await calls.events(own)).toHaveLength(isAfter ? 1 : 2);
  }
});

test('publishing while the categories are renamed, deleted and assigned is neither a 5xx nor a circle: 100 rounds', async () => {
  const own = await service.workspace();
  const ownProject = await service.project(own);
  const category = await calls.category(own, { en: 'Title' });
  const other = await calls.category(own, { en: 'Other' });
  const page = await createArticle(service.db, own, ownProject, { status: 'APPROVED' });
  await calls.assign(own, page.id, [other.id, category.id]);
  for (let round = 0; round < ROUNDS; round += 1) {
    await service.db.updateTable('articles').set({ status: 'APPROVED' }).where('id', '=', page.id).execute();
    const doomed = await calls.category(own, { en: `Doomed with it ${round}` });
    await calls.assign(own, page.id, [doomed.id, other.id, category.id]);
    const answers = await Promise.all([
      calls.rename(own, category.id, { en: `Title ${round}` }),
      calls.rename(own, other.id, { en: `Other ${round}` }),
      sleep(round % 4).then(() => service.call(own.key, 'POST', `/api/articles/${page.id}/publish`)),
      calls.assign(own, page.id, [category.id, other.id]),
      calls.remove(own, doomed.id),
    ]);
    for (const { status } of answers) expect([200, 400]).toContain(status);
  }
});

test.each([
  ['few articles', 1],
  ['very many articles', 1_001],
])('an article published beside a rename of %s shows the new name or is told of it', async (_, carriers) => {
  const own = await service.workspace();
  const ownProject = await service.project(own);
  const category = await calls.category(own, { en: 'Signs' });
  const page = await createArticle(service.db, own, ownProject, { status: 'APPROVED' });
  await publishMany(service.db, own, ownProject, category.id, carriers);
  await calls.assign(own, page.id, [category.id]);
  await calls.endpoint(own, ['article.updated']);
  const seen = new Set<boolean>();
  for (let round = 0; round < 40; round += 1) {
    await service.db.updateTable('articles').set({ status: 'APPROVED' }).where('id', '=', page.id).execute();
    await calls.forgetEvents(own);
    const [renamed, published] = await Promise.all([
      sleep(round % 4).then(() => calls.rename(own, category.id, { en: `Signs ${round}` })),
      sleep(round % 3).then(() => service.call(own.key, 'POST', `/api/articles/${page.id}/publish`)),
    ]);
    expect(statuses([renamed, published])).toEqual([200, 200]);
    const listed = await sql<{ id: string }>`
      SELECT unnest(article_ids) AS id FROM event_fanouts WHERE workspace_id = ${own.id}`.execute(service.db);
    const told = [
      ...listed.rows.map(({ id }) => id),
      ...(await calls.events(own))
        .filter(({ type }) => type === 'article.updated')
        .map(({ articleId }) => articleId),
    ];
    const isFirst = published.body.article.publishedAt < renamed.body.category.updatedAt;
    expect(told.filter((id) => id === page.id)).toHaveLength(isFirst ? 1 : 0);
    expect(told).toHaveLength(carriers + (isFirst ? 1 : 0));
    seen.add(isFirst);
  }
  expect(seen.size).toBe(2);
});

test('publishing waits for a rename that has looked for carriers already, so that no event shows the old name', async () => {
  const own = await service.workspace();
  const ownProject = await service.project(own);
  const category = await calls.category(own, { en: 'Before' });
  const page = await createArticle(service.db, own, ownProject, { status: 'APPROVED' });
  await calls.assign(own, page.id, [category.id]);
  let published: Promise<Answer> | undefined;
  let answered = false;
  // A rename that has stored its events and has not committed yet.
  await service.db.transaction().execute(async (tx) => {
    await tx
      .selectFrom('categories')
      .select('id')
      .where('id', '=', category.id as CategoryId)
      .forUpdate()
      .execute();
    published = service.call(own.key, 'POST', `/api/articles/${page.id}/publish`).then((response) => {
      answered = true;
      return response;
    });
    await sleep(500);
    expect(answered).toBe(false);
  });
  expect((await published)?.status).toBe(200);
});

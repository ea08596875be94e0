import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { importArticle } from '../../src/articles/import.ts';
import { blobFolder, createLocalBlobStore } from '../../src/blobs/blob-store.ts';
import { readTextBytes } from '../../src/db/quotas.ts';
import type { ProjectId } from '../../src/ids.ts';
import { setLimits } from '../../src/workspaces/set-limits.ts';
import { documentOf, type Editing, editing, PNG, paragraph } from '../articles/support.ts';
import { emptyDeleted } from '../support/emptying.ts';
import { svg, useTestMedia } from '../support/images.ts';
import { type Answer, type TestWorkspace, useTestService } from '../support/service.ts';

const media = useTestMedia();

const folder = mkdtempSync(path.join(tmpdir(), 'bounds-'));
afterAll(() => rmSync(folder, { recursive: true }));
const service = useTestService({ DATA_DIR: folder });
const blobs = createLocalBlobStore(blobFolder(folder));

let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;
beforeEach(async () => {
  workspace = await service.workspace(100);
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});

/** Paragraphs of up to 10,000 characters. */
const text = (characters: number) =>
  documentOf(
    ...Array.from({ length: Math.ceil(characters / 10_000) }, (_, index) =>
      paragraph('w'.repeat(Math.min(10_000, characters - index * 10_000)), `p${index}`),
    ),
  );
const texts = () => readTextBytes(service.db, workspace.id);
const articles = async (): Promise<number> => {
  const { rows } = await sql<{ articles: number }>`
    SELECT sum(articles)::integer AS articles FROM workspace_usage WHERE workspace_id = ${workspace.id}`.execute(
    service.db,
  );
  return rows[0]?.articles ?? 0;
};
/** Lets the workspace have this many articles more than there are rows. */
const pretend = (more: number) =>
  sql`INSERT INTO workspace_usage (workspace_id, articles, text_bytes)
    VALUES (${workspace.id}, ${more}, 0)`.execute(service.db);
/** What the counters have to agree with. */
const counted = async () => {
  const { rows } = await sql<{ articles: number; bytes: number }>`
    SELECT (SELECT count(*) FROM articles WHERE workspace_id = ${workspace.id})::integer AS articles,
      ((SELECT coalesce(sum(octet_length(document::text) + coalesce(octet_length(content_html), 0)
          + coalesce(octet_length(content_markdown), 0)), 0) FROM articles WHERE workspace_id = ${workspace.id})
        + (SELECT coalesce(sum(octet_length(document::text)), 0) FROM article_revisions
          WHERE workspace_id = ${workspace.id}))::float8 AS bytes`.execute(service.db);
  return rows[0];
};
const refused = ({ status, body }: Pick<Answer, 'status' | 'body'>) => [status, body.code];
const QUOTA = [429, 'QUOTA_EXCEEDED'];
const post = (to: string, body?: unknown) => service.call(workspace.key, 'POST', to, body);
const patch = (id: string, body: unknown) =>
  service.call(workspace.key, 'PATCH', `/api/articles/${id}`, body);
const create = (body: object = {}) =>
  post(`/api/projects/${projectId}/articles`, { title: 'One more', ...body });

// contract.md R16
it('a workspace has 1,000 projects, however many are made at once', async () => {
  await sql`INSERT INTO projects (id, workspace_id, name, languages, primary_language)
    SELECT gen_random_uuid(), ${workspace.id}, 'P', '{en}', 'en' FROM generate_series(1, 998)`.execute(
    service.db,
  );
  const body = { name: 'P', languages: ['en'], primaryLanguage: 'en' };
  const to = `/api/workspaces/${workspace.id}/projects`;
  const made = await Promise.all([1, 2, 3, 4].map(() => post(to, body)));
  expect(made.map(({ status }) => status).sort()).toEqual([201, 429, 429, 429]);
  expect(refused(made.find(({ status }) => status !== 201) as Answer)).toEqual(QUOTA);
});

// contract.md R14
it('a workspace has 100,000 articles, whichever way they come and however many at once', async () => {
  const article = await editor.create(projectId, { documentJson: text(40) });
  await pretend(99_997);
  const made = await Promise.all(Array.from({ length: 8 }, () => create()));
  expect(made.map(({ status }) => status).sort()).toEqual([201, 201, ...Array(6).fill(429)]);
  expect(await articles()).toBe(100_000);
  expect(refused(await create())).toEqual(QUOTA);
  expect(refused(await post(`/api/articles/${article.id}/duplicate`))).toEqual(QUOTA);
  expect(refused(await post(`/api/articles/${article.id}/translations`, { language: 'es' }))).toEqual(QUOTA);
  const generationConfig = { topic: 'Gardens' };
  const generate = () => post(`/api/projects/${projectId}/articles/generate`, { generationConfig });
  expect(refused(await generate())).toEqual(QUOTA);
  const file = path.join(folder, 'article.md');
  writeFileSync(path.join(folder, 'image.png'), PNG);
  writeFileSync(file, 'Text\n\n![An image](image.png)\n');
  const input = { projectId, language: 'en', file, status: 'DRAFT', keywords: [] } as const;
  const importing = () => importArticle({ ...workspace.context, blobs, media }, input);
  await expect(importing()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  const { rows } = await sql`SELECT FROM blobs`.execute(service.db);
  expect(rows).toEqual([]);
  const { body } = await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/wallet`);
  expect(body.wallet).toEqual({ balance: 100, reserved: 0, available: 100 });

  // A save is none the wiser, and a deletion makes room for one.
  expect((await patch(article.id, { title: 'Renamed' })).status).toBe(200);
  expect((await editor.remove(article.id)).status).toBe(200);
  expect((await create()).status).toBe(201);
  expect(refused(await create())).toEqual(QUOTA);
});

// contract.md R15
it('texts count for the storage quota: what grows is refused at its end, what shrinks or goes is not', async () => {
  const { id } = await editor.create(projectId, { documentJson: text(10_000) });
  await setLimits(workspace.context, { storageBytes: (await texts()) + 40_000 });
  expect((await patch(id, { documentJson: text(20_000) })).status).toBe(200);
  expect(refused(await patch(id, { documentJson: text(30_000) }))).toEqual(QUOTA);
  expect(refused(await create({ documentJson: text(10_000) }))).toEqual(QUOTA);
  expect(refused(await editor.upload('POST', `/api/articles/${id}/assets`, svg(1, 10_000)))).toEqual(QUOTA);

  await setLimits(workspace.context, { storageBytes: 1_000 });
  expect((await patch(id, { documentJson: text(19_000) })).status).toBe(200);
  expect(refused(await patch(id, { documentJson: text(19_001) }))).toEqual(QUOTA);
  expect((await patch(id, { slug: 'elsewhere' })).status).toBe(200);
  expect(refused(await create())).toEqual(QUOTA);
  expect((await editor.remove(id)).status).toBe(200);
  expect(await texts()).toBe(0);
  expect((await create()).status).toBe(201);
});

// contract.md R17
it('an article keeps its latest thousand reviews and redirects', async () => {
  const { id } = await editor.published(projectId, { documentJson: text(40) });
  const scope = { workspace_id: workspace.id, article_id: id };
  await sql`INSERT INTO reviews (id, workspace_id, article_id, decision, previous_status, comment, created_at)
    SELECT gen_random_uuid(), ${scope.workspace_id}, ${id}, 'approved', 'DRAFT', number, now() - make_interval(secs => number)
    FROM generate_series(1, 1000) AS number`.execute(service.db);
  await sql`INSERT INTO article_slug_redirects (project_id, language, slug, workspace_id, article_id, created_at)
    SELECT ${projectId}, 'en', 'old-' || number, ${scope.workspace_id}, ${id}, now() - make_interval(secs => number)
    FROM generate_series(1, 1000) AS number`.execute(service.db);
  expect((await patch(id, { slug: 'renamed' })).status).toBe(200);
  expect(
    (await post(`/api/articles/${id}/reviews`, { decision: 'rejected', comment: 'latest' })).status,
  ).toBe(201);
  const { rows } = await sql<{ reviews: number; redirects: number; oldest: number; slug: boolean }>`
    SELECT (SELECT count(*) FROM reviews WHERE article_id = ${id})::integer AS reviews,
      (SELECT count(*) FROM article_slug_redirects WHERE article_id = ${id})::integer AS redirects,
      (SELECT max(comment::integer) FROM reviews WHERE article_id = ${id} AND comment ~ '^\\d+$') AS oldest,
      EXISTS (SELECT FROM article_slug_redirects WHERE article_id = ${id} AND slug = 'old-1000') AS slug`.execute(
    service.db,
  );
  expect(rows).toEqual([{ reviews: 1_000, redirects: 1_000, oldest: 998, slug: false }]);
});

it('over the quota, revisions of ever smaller articles end at twice the quota', async () => {
  const { id } = await editor.create(projectId, { documentJson: text(10_000) });
  await setLimits(workspace.context, { storageBytes: Math.ceil((await texts()) / 2) + 4_000 });
  // Nobody waits five minutes for the next revision.
  const later = () =>
    sql`UPDATE articles SET author_since = author_since - interval '1 hour' WHERE id = ${id}`.execute(
      service.db,
    );
  await later();
  expect(refused(await patch(id, { documentJson: text(9_999) }))).toEqual(QUOTA);
  await setLimits(workspace.context, { storageBytes: (await texts()) - 1 });
  expect((await patch(id, { documentJson: text(9_999) })).status).toBe(200);
});

it('of many saves at once near the limit as many are taken as fit, without waiting for each other below it', async () => {
  const made = await Promise.all(
    Array.from({ length: 8 }, () => editor.create(projectId, { documentJson: text(1_000) })),
  );
  const before = await texts();
  const grown = async () => {
    const { id } = await editor.create(projectId, { documentJson: text(10_000) });
    const bytes = (await texts()) - before;
    await editor.remove(id);
    return bytes;
  };
  const each = (await grown()) - before / made.length;
  await setLimits(workspace.context, { storageBytes: Math.ceil(before + 3.5 * each) });
  const saved = await Promise.all(made.map(({ id }) => patch(id, { documentJson: text(10_000) })));
  expect(saved.map(({ status }) => status).sort()).toEqual([200, 200, 200, ...Array(5).fill(429)]);

  // The holder of a counter holds up nobody: each takes one that is free.
  await setLimits(workspace.context, { storageBytes: 1_000_000_000 });
  await service.db.transaction().execute(async (tx) => {
    await sql`SELECT FROM workspace_usage WHERE workspace_id = ${workspace.id} FOR UPDATE`.execute(tx);
    expect((await create()).status).toBe(201);
  });
});

it('whatever happens to articles and revisions, the counters agree with their rows', async () => {
  const first = await editor.published(projectId, { documentJson: text(3_000) });
  const second = await editor.create(projectId, { documentJson: text(500) });
  await patch(first.id, { documentJson: text(2_000) });
  await service.db
    .updateTable('articles')
    .set({ author_kind: 'operator', author_id: null })
    .where('id', '=', first.id as never)
    .execute();
  await patch(first.id, { documentJson: text(100), title: 'Other words' });
  await post(`/api/articles/${first.id}/duplicate`);
  await post(`/api/articles/${second.id}/translations`, { language: 'de' });
  await editor.remove(second.id);
  const now = await counted();
  expect({ articles: await articles(), bytes: await texts() }).toEqual(now);
  expect(now?.articles).toBe(3);
  const other = await service.project(workspace);
  await post(`/api/projects/${other}/articles`, { title: 'Apart', documentJson: text(400) });
  await service.call(workspace.key, 'DELETE', `/api/projects/${other}`);
  expect({ articles: await articles(), bytes: await texts() }).toEqual(now);
  await emptyDeleted(service.db);
  expect({ articles: await articles(), bytes: await texts() }).toEqual(now);
  expect(await counted()).toEqual(now);
});

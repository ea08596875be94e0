import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { createDatabase } from '../../src/db/database.ts';
import { storedBytesOf } from '../../src/media/media.ts';
import type { Project } from '../../src/projects/schemas.ts';
import { deleteWorkspace } from '../../src/workspaces/delete.ts';
import { type Editing, editing, PNG } from '../articles/support.ts';
import { createArticle } from '../support/articles.ts';
import { emptyDeleted } from '../support/emptying.ts';
import { useTestMedia } from '../support/images.ts';
import { startTestService, type TestWorkspace, useTestService } from '../support/service.ts';

const media = useTestMedia();

let workspace: TestWorkspace;
let editor: Editing;
const folder = mkdtempSync(path.join(tmpdir(), 'wcs-projects-'));
const service = useTestService({ DATA_DIR: folder });

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  workspace = await service.workspace();
  editor = editing(service, workspace);
});

const create = (body: Record<string, unknown>) =>
  editor.call('POST', `/api/workspaces/${workspace.id}/projects`, body);
const patch = (id: string, body: unknown) => editor.call('PATCH', `/api/projects/${id}`, body);
const events = async () =>
  (await service.db.selectFrom('events').select('id').where('workspace_id', '=', workspace.id).execute())
    .length;

it('creates, reads, lists and changes projects, checked on the result', async () => {
  const created = await create({ name: ' Garden ', languages: ['EN', 'es', 'en'], primaryLanguage: 'en' });
  const project: Project = created.body.project;
  expect([created.status, project]).toEqual([
    201,
    {
      id: expect.any(String),
      workspaceId: workspace.id,
      name: 'Garden',
      languages: ['en', 'es'],
      primaryLanguage: 'en',
      addressTemplate: null,
      imageSettings: { hero: { style: null }, inline: { style: null } },
      citations: 'links',
      defaultBrandVoiceId: null,
      archivedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    },
  ]);
  expect((await editor.call('GET', `/api/projects/${project.id}`)).body).toEqual({ project });
  expect((await patch(project.id, {})).body).toEqual({ project });

  const changed = await patch(project.id, { languages: ['de', 'es'], primaryLanguage: 'de', archived: true });
  expect(changed.body.project).toMatchObject({
    languages: ['de', 'es'],
    primaryLanguage: 'de',
    archivedAt: expect.any(String),
  });
  const bad: [unknown, string][] = [
    [{ languages: ['fr'] }, '/languages'],
    [{ primaryLanguage: 'fr' }, '/primaryLanguage'],
    [{ languages: [] }, '/languages'],
    [{ languages: ['no tag'] }, '/languages/0'],
    [{ name: '' }, '/name'],
    [{ archived: 'yes' }, '/archived'],
    ...[
      'https://example.com/{language}',
      'https://example.com/{slug}/{id}',
      'https://example.com/{{slug}',
      'javascript:alert({slug})',
      'https://user:word@example.com/{slug}',
      'https://example.com/a b/{slug}',
      '/{slug}',
      `https://example.com/${'a'.repeat(500)}/{slug}`,
    ].map((addressTemplate): [unknown, string] => [{ addressTemplate }, '/addressTemplate']),
  ];
  for (const [body, pointer] of bad) {
    const response = await patch(project.id, body);
    expect([response.status, response.body.errors[0].pointer]).toEqual([400, pointer]);
  }
  const second = (await create({ name: 'B', languages: ['en'], primaryLanguage: 'en' })).body.project;
  const list = async (query = '') =>
    (await editor.call('GET', `/api/workspaces/${workspace.id}/projects${query}`)).body;
  expect((await list()).projects.map(({ id }: Project) => id)).toEqual([second.id, project.id]);
  expect((await list('?archived=true')).projects.map(({ id }: Project) => id)).toEqual([project.id]);
  const { nextCursor } = await list('?limit=1');
  expect((await list(`?limit=1&cursor=${nextCursor}`)).projects[0].id).toBe(project.id);
  expect(await editor.auditActions(project.id)).toEqual(['projects.created', 'projects.updated']);
  expect((await patch(project.id, { archived: false })).body.project.archivedAt).toBeNull();
});

it('a language that an article has cannot be removed, also when both happen at once', async () => {
  const projectId = await service.project(workspace, ['en', 'es']);
  const article = await editor.create(projectId, { primaryLanguage: 'es' });
  const refused = await patch(projectId, { languages: ['en'] });
  expect([refused.status, refused.body.details.reason]).toEqual([409, 'language_in_use']);
  expect((await patch(projectId, { languages: ['es', 'en', 'de'] })).status).toBe(200);
  await editor.remove(article.id);

  for (let round = 0; round < 20; round += 1) {
    await patch(projectId, { languages: ['en', 'es'] });
    const [made, removed] = await Promise.all([
      editor.call('POST', `/api/projects/${projectId}/articles`, { title: 'T', primaryLanguage: 'es' }),
      patch(projectId, { languages: ['en'] }),
    ]);
    const outcome = [made.status, removed.status];
    expect([
      [201, 409],
      [400, 200],
    ]).toContainEqual(outcome);
    if (made.status === 201) await editor.remove(made.body.article.id);
  }
});

// contract.md R12
it('archiving leaves articles published', async () => {
  const projectId = await service.project(workspace);
  const article = await editor.published(projectId);
  await patch(projectId, { archived: true });
  expect((await editor.read(article.id)).status).toBe('PUBLISHED');
});

// contract.md E9
it('deleting takes articles along without events and gives their bytes back', async () => {
  const projectId = await service.project(workspace);
  const article = await editor.published(projectId);
  await editor.upload('POST', `/api/articles/${article.id}/assets`, PNG);
  expect(await editor.storageUsed()).toBe(storedBytesOf(await media.processUpload(PNG, '')));
  const before = await events();
  const jobId = await editor.openJob(article);
  const refused = await editor.call('DELETE', `/api/projects/${projectId}`);
  expect([refused.status, refused.body.details.reason]).toEqual([409, 'job_running']);
  await service.db
    .updateTable('jobs')
    .set({ status: 'CANCELLED', ended_at: new Date() })
    .where('id', '=', jobId)
    .execute();
  expect((await editor.call('DELETE', `/api/projects/${projectId}`)).body).toEqual({ ok: true });
  expect((await editor.call('GET', `/api/projects/${projectId}`)).status).toBe(404);
  expect((await editor.call('GET', `/api/articles/${article.id}`)).status).toBe(404);
  expect(await events()).toBe(before);
  expect(await editor.storageUsed()).toBe(0);
  expect(await editor.auditActions(projectId)).toContain('projects.deleted');
});

// contract.md L11 and R13
it('nothing of a deleted project is shown or counted, and its texts and images count once however they come and go', async () => {
  const [projectId, other] = [await service.project(workspace), await service.project(workspace)];
  const kept = await editor.published(other);
  const article = await editor.published(projectId);
  const { body: uploaded } = await editor.upload('POST', `/api/articles/${article.id}/assets`, PNG);
  const { body: named } = await editor.call('POST', `/api/workspaces/${workspace.id}/categories`, {
    primaryLanguage: 'en',
    translations: [{ language: 'en', name: `Category ${projectId}` }],
  });
  const { id: categoryId } = named.category;
  for (const { id } of [kept, article]) {
    await editor.call('PUT', `/api/articles/${id}/categories`, { categoryIds: [categoryId] });
  }
  const key = `key ${projectId}`;
  const jobOf = async (id: string) => {
    const path = `/api/articles/${id}/translations`;
    const { body } = await editor.call('POST', path, { language: 'es', idempotencyKey: key });
    await editor.call('POST', `/api/jobs/${body.job.id}/cancel`);
    return body.job.id;
  };
  const jobId = await jobOf(article.id);
  const usage = async () =>
    (
      await sql<{ articles: number; bytes: number }>`
        SELECT sum(articles)::integer AS articles, sum(text_bytes)::integer AS bytes FROM workspace_usage
        WHERE workspace_id = ${workspace.id}`.execute(service.db)
    ).rows[0];
  const held = async () =>
    (
      await sql<{ articles: number; bytes: number }>`
        SELECT count(*)::integer AS articles, (sum(bytes) + (
          SELECT coalesce(sum(bytes), 0) FROM article_revisions WHERE workspace_id = ${workspace.id}) + (
          SELECT coalesce(sum(bytes), 0) FROM translation_memory WHERE workspace_id = ${workspace.id}))::integer AS bytes
        FROM articles WHERE workspace_id = ${workspace.id}`.execute(service.db)
    ).rows[0];
  expect((await editor.call('DELETE', `/api/projects/${projectId}`)).status).toBe(200);

  for (const path of [
    `/api/projects/${projectId}`,
    `/api/articles/${article.id}`,
    `/api/articles/${article.id}/assets`,
    `/api/jobs/${jobId}`,
    uploaded.asset.url,
  ]) {
    const response = await fetch(new URL(path, service.url), {
      headers: path.startsWith('/api') ? { authorization: `Bearer ${workspace.key}` } : {},
    });
    await response.body?.cancel();
    expect([path, response.status]).toEqual([path, 404]);
  }
  const made = await editor.call('POST', `/api/projects/${projectId}/articles`, { title: 'x' });
  expect(made.status).toBe(404);
  const { body: projects } = await editor.call('GET', `/api/workspaces/${workspace.id}/projects`);
  expect(projects.projects.map(({ id }: { id: string }) => id)).not.toContain(projectId);
  const { body: articles } = await editor.call('GET', `/api/workspaces/${workspace.id}/articles`);
  expect(articles.articles.map(({ id }: { id: string }) => id)).toEqual([kept.id]);
  const { body: listed } = await editor.call('GET', `/api/workspaces/${workspace.id}/categories`);
  const counts = listed.categories.map((one: { id: string; articleCount: number }) => [
    one.id,
    one.articleCount,
  ]);
  expect(counts).toContainEqual([categoryId, 1]);
  expect(await editor.storageUsed()).toBe(0);
  // A key that a job of the project had is free, and a rename notifies of no article of it.
  expect(await jobOf(kept.id)).not.toBe(jobId);
  const counted = await usage();
  // An upload that was under way when the project was deleted.
  await service.db.transaction().execute(async (tx) => {
    await sql`INSERT INTO assets (id, workspace_id, article_id, role, content_hash, media_type, byte_size, file_name)
      SELECT gen_random_uuid(), workspace_id, article_id, role, content_hash, media_type, 50, file_name FROM assets
      WHERE article_id = ${article.id}`.execute(tx);
    await sql`UPDATE workspaces SET storage_bytes_used = storage_bytes_used + 50 WHERE id = ${workspace.id}`.execute(
      tx,
    );
  });
  await emptyDeleted(service.db);
  expect(await editor.storageUsed()).toBe(0);
  expect(await usage()).toEqual(counted);
  expect(counted).toEqual(await held());
  const rows = await service.db
    .selectFrom('articles')
    .select('id')
    .where('project_id', '=', projectId)
    .execute();
  expect(rows).toEqual([]);
  expect((await editor.call('GET', `/api/articles/${kept.id}`)).status).toBe(200);
});

// contract.md R13
it('a project of very many articles goes by statements that each end in time', async () => {
  const own = await startTestService({ DATABASE_STATEMENT_TIMEOUT_SECONDS: '1.5', DATA_DIR: folder });
  const owner = await own.workspace();
  const projectId = await own.project(owner);
  await sql`
    INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
      translation_group_id)
    SELECT gen_random_uuid(), ${owner.id}, ${projectId}, 'x', gen_random_uuid(), 'DRAFT',
      '{"version": 1, "blocks": []}', 'en', gen_random_uuid()
    FROM generate_series(1, 2500)`.execute(own.db);
  // As long as one with images, jobs and revisions takes.
  await sql`
    CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_sleep(0.001); RETURN OLD; END'`.execute(own.db);
  await sql`CREATE TRIGGER slowly BEFORE DELETE ON articles FOR EACH ROW EXECUTE FUNCTION slowly()`.execute(
    own.db,
  );
  const deleted = await own.call(owner.key, 'DELETE', `/api/projects/${projectId}`);
  expect([deleted.status, deleted.body]).toEqual([200, { ok: true }]);
  const listed = await own.call(owner.key, 'GET', `/api/workspaces/${owner.id}/articles`);
  expect(listed.body.articles).toEqual([]);
  const patient = createDatabase({
    connectionString: own.config.DATABASE_URL,
    poolSize: 1,
    statementTimeout: 1_500,
  });
  await emptyDeleted(patient);
  await patient.destroy();
  expect(await own.db.selectFrom('articles').select('id').execute()).toEqual([]);
  await own.stop();
});

it('a translation that is queued while its project is deleted: one of both wins, and no job is stranded', async () => {
  for (let round = 0; round < 10; round += 1) {
    const projectId = await service.project(workspace);
    const source = await createArticle(service.db, workspace, projectId);
    const [queued, deleted] = await Promise.all([
      editor.call('POST', `/api/articles/${source.id}/translations`, { language: 'es' }),
      editor.call('DELETE', `/api/projects/${projectId}`),
    ]);
    expect([
      [202, 409],
      [404, 200],
    ]).toContainEqual([queued.status, deleted.status]);
    const open = await service.db
      .selectFrom('holds')
      .leftJoin('jobs', 'jobs.id', 'holds.run_id')
      .select('jobs.id')
      .where('holds.workspace_id', '=', workspace.id)
      .where('holds.status', '=', 'open')
      .execute();
    for (const { id } of open) {
      expect(id).not.toBeNull();
      await editor.call('POST', `/api/jobs/${id}/cancel`);
    }
  }
});

it('a workspace goes with all it has, without events, but not while a job is open', async () => {
  const projectId = await service.project(workspace);
  const article = await editor.published(projectId);
  await editor.upload('PUT', `/api/articles/${article.id}/hero`, PNG);
  await editor.call('POST', `/api/workspaces/${workspace.id}/webhooks`, {
    url: 'http://127.0.0.1:9/hooks',
    events: ['article.unpublished'],
  });
  const source = await createArticle(service.db, workspace, projectId);
  const { body } = await editor.call('POST', `/api/articles/${source.id}/translations`, { language: 'es' });
  await expect(deleteWorkspace(workspace.context)).rejects.toMatchObject({
    code: 'CONFLICT',
    details: { reason: 'job_running' },
  });
  await editor.call('POST', `/api/jobs/${body.job.id}/cancel`);
  const count = async () =>
    Number(
      (
        await service.db
          .selectFrom('events')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('type', '=', 'article.unpublished')
          .executeTakeFirstOrThrow()
      ).count,
    );
  const before = await count();
  await deleteWorkspace(workspace.context);
  await expect(deleteWorkspace(workspace.context)).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
  await emptyDeleted(service.db);
  expect(await count()).toBe(before);
  expect((await editor.call('GET', `/api/workspaces/${workspace.id}/projects`)).status).toBe(401);
  // What stored something for an endpoint when it was deleted has ended two minutes later.
  await service.db
    .updateTable('webhook_endpoints')
    .set({ deleted_at: new Date(Date.now() - 3_600_000) })
    .where('workspace_id', '=', workspace.id)
    .execute();
  await emptyDeleted(service.db);
  for (const table of ['roles', 'api_keys', 'projects', 'articles', 'assets', 'wallets', 'events'] as const) {
    const rows = await service.db
      .selectFrom(table)
      .select('workspace_id')
      .where('workspace_id', '=', workspace.id)
      .execute();
    expect([table, rows]).toEqual([table, []]);
  }
});

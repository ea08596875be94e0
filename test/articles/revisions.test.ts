import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { lockArticle } from '../../src/articles/lock.ts';
import { MAX_REVISIONS, replaceContent } from '../../src/articles/revisions/keep.ts';
import { pruneRevisions } from '../../src/articles/revisions/prune.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { type ArticleId, type JobId, newId, type ProjectId } from '../../src/ids.ts';
import { longDocument } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { translating } from '../support/translating.ts';
import { documentOf, type Editing, editing, PNG, paragraph } from './support.ts';

const service = useTestService();

let workspace: TestWorkspace;
let projectId: ProjectId;
/** Two people with a key each. */
let ann: Editing;
let ben: Editing;
let benKeyId: string;

beforeAll(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  ann = editing(service, workspace);
  const created = await ann.call('POST', `/api/workspaces/${workspace.id}/api-keys`, {
    label: 'Ben',
    roleId: workspace.roles.editor,
  });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  benKeyId = created.body.apiKey.id;
  ben = editing(service, { ...workspace, key: created.body.key });
});

/** Lets time pass since the author of the present state began. */
const later = (id: string, minutes: number) =>
  sql`UPDATE articles SET author_since = author_since - make_interval(mins => ${minutes}) WHERE id = ${id}`.execute(
    service.db,
  );

const titlesKept = async (id: string) =>
  (
    await service.db
      .selectFrom('article_revisions')
      .select('title')
      .where('article_id', '=', id as ArticleId)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .execute()
  ).map(({ title }) => title);

const writeAsJob = (id: string, title: string) =>
  inTransaction(service.db, async (tx) => {
    await lockArticle(tx, workspace.id, id as ArticleId, 'edit');
    await replaceContent(tx, id as ArticleId, {
      kind: 'system',
      workspaceId: workspace.id,
      jobId: newId<JobId>(),
    })
      .set({ title })
      .execute();
  });

// contract.md V1
it('what stood there before the change of another author, a person or a job, can be got back', async () => {
  const { id } = await ann.create(projectId, { title: 'Ann 1' });
  await ann.patch(id, { title: 'Ann 2' });
  expect(await titlesKept(id)).toEqual([]);
  await ben.patch(id, { title: 'Ben 1' });
  await ann.patch(id, { title: 'Ann 3' });
  await writeAsJob(id, 'Job 1');
  await writeAsJob(id, 'Job 2');
  await ann.patch(id, { title: 'Ann 4' });
  expect(await titlesKept(id)).toEqual(['Job 2', 'Job 1', 'Ann 3', 'Ben 1', 'Ann 2']);
});

// contract.md V2
it('saves of one author within five minutes of the first are one', async () => {
  const { id } = await ann.create(projectId, { title: 'Minute 0' });
  for (const minute of [2, 4]) {
    await later(id, 2);
    await ann.patch(id, { title: `Minute ${minute}` });
  }
  expect(await titlesKept(id)).toEqual([]);
  await later(id, 2);
  await ann.patch(id, { title: 'Minute 6' });
  await later(id, 4);
  await ann.patch(id, { title: 'Minute 10' });
  expect(await titlesKept(id)).toEqual(['Minute 4']);
  await later(id, 2);
  await ann.patch(id, { title: 'Minute 12' });
  expect(await titlesKept(id)).toEqual(['Minute 10', 'Minute 4']);
});

// contract.md V3
it('a save that changes nothing, or the slug alone, keeps nothing', async () => {
  const { id } = await ann.create(projectId, { title: 'Same' });
  await ben.patch(id, { title: 'Same' });
  expect((await ben.patch(id, { slug: 'by-hand' })).body.article.slug).toBe('by-hand');
  expect(await titlesKept(id)).toEqual([]);
});

// contract.md V4
it('of many saves at once by two authors none is lost, and no more than fifty stay', async () => {
  const { id } = await ann.create(projectId, { title: 'Start' });
  const saves = Array.from({ length: 60 }, (_, index) =>
    (index % 2 === 0 ? ann : ben).patch(id, { title: `${index % 2 === 0 ? 'Ann' : 'Ben'} ${index}` }),
  );
  const titles = (await Promise.all(saves)).map(({ body }) => body.article.title as string);
  const kept = await titlesKept(id);
  const { title } = await ann.read(id);
  expect(kept.length).toBeLessThanOrEqual(MAX_REVISIONS);
  // Each has another author than the one that replaced it, and nobody's last words are missing.
  const history = [title, ...kept];
  expect(new Set(history).size).toBe(history.length);
  for (const [index, one] of history.slice(0, -1).entries()) {
    expect(history[index + 1]?.slice(0, 3)).not.toBe(one.slice(0, 3));
    expect(titles).toContain(one);
  }
  for (let round = 0; round < MAX_REVISIONS; round += 1) await writeAsJob(id, `Job ${round}`);
  expect(await titlesKept(id)).toEqual([
    ...Array.from({ length: MAX_REVISIONS - 1 }, (_, round) => `Job ${MAX_REVISIONS - 2 - round}`),
    title,
  ]);
  await ann.patch(id, { title: 'One more' });
  expect(await titlesKept(id)).toHaveLength(MAX_REVISIONS);
  expect((await titlesKept(id)).at(-1)).toBe('Job 0');
});

const revisionsOf = (id: string, more = '') => `/api/articles/${id}/revisions${more}`;
const restore = (editor: Editing, id: string, revisionId: string, headers: Record<string, string> = {}) =>
  editor.call('POST', revisionsOf(id, `/${revisionId}/restore`), undefined, headers);

// contract.md V5
it('a revision holds title, document, meta fields and keywords, and tells who wrote it and when', async () => {
  const document = documentOf(paragraph('As Ann wrote it.'));
  const { id } = await ann.create(projectId, {
    title: 'Held',
    documentJson: document,
    metaTitle: 'Meta',
    metaDescription: 'About',
    targetKeywords: ['one'],
    secondaryKeywords: ['two', 'three'],
  });
  await ben.patch(id, { title: 'By Ben', documentJson: documentOf(paragraph('Ben.')), metaTitle: null });
  await writeAsJob(id, 'By a job');
  await ann.patch(id, { title: 'By Ann' });
  const first = await ann.call('GET', revisionsOf(id, '?limit=2'));
  const rest = await ann.call('GET', revisionsOf(id, `?limit=2&cursor=${first.body.nextCursor}`));
  const listed = [...first.body.revisions, ...rest.body.revisions];
  expect(rest.body.nextCursor).toBeNull();
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(listed).toMatchObject([
    { title: 'By a job', author: { kind: 'job', id: expect.any(String) } },
    { title: 'By Ben', wordCount: 1, author: { kind: 'api_key', id: benKeyId } },
    { title: 'Held', wordCount: 4, author: { kind: 'api_key', id: workspace.keyId } },
  ]);
  const times = listed.flatMap(({ replacedAt, savedAt }) => [replacedAt, savedAt]);
  expect(times).toEqual(times.toSorted().toReversed());
  const read = await ann.call('GET', revisionsOf(id, `/${listed[2].id}`));
  expect(read.body.revision).toEqual({
    ...listed[2],
    savedAt: time,
    metaTitle: 'Meta',
    metaDescription: 'About',
    targetKeywords: ['one'],
    secondaryKeywords: ['two', 'three'],
    documentJson: document,
  });
  // Another article's is none of this one.
  const other = await ann.create(projectId);
  for (const [method, more] of [
    ['GET', ''],
    ['POST', '/restore'],
  ] as const) {
    expect((await ann.call(method, revisionsOf(other.id, `/${listed[2].id}${more}`))).status).toBe(404);
  }
});

// contract.md V6
it('restoring is a save like any other: rendered, counted, guarded by If-Match, told and written in the log', async () => {
  const text = documentOf(paragraph('Three old words'));
  const { id } = await ann.published(projectId, { title: 'Old name', documentJson: text, metaTitle: 'Meta' });
  await ben.patch(id, { title: 'New name', documentJson: documentOf(paragraph('Other')), metaTitle: null });
  const [{ id: revisionId }] = (await ann.call('GET', revisionsOf(id))).body.revisions;
  expect((await restore(ben, id, revisionId, { 'if-match': '"stale"' })).status).toBe(412);
  const etag = (await ben.call('GET', `/api/articles/${id}`)).headers.get('etag') ?? '';
  const answer = await restore(ben, id, revisionId, { 'if-match': etag });
  expect(answer.body.missingImages).toEqual([]);
  expect(answer.body.article).toMatchObject({
    title: 'Old name',
    slug: 'old-name',
    status: 'PUBLISHED',
    metaTitle: 'Meta',
    documentJson: text,
    contentHtml: '<p>Three old words</p>',
    wordCount: 3,
  });
  const read = await ben.call('GET', `/api/articles/${id}`);
  expect([read.body.article, read.headers.get('etag')]).toEqual([
    answer.body.article,
    answer.headers.get('etag'),
  ]);
  expect((await ann.events(id)).at(-1)).toMatchObject({
    event: 'article.updated',
    data: { changed: ['title', 'content', 'slug', 'metaTitle'], previousSlug: 'new-name' },
  });
  const audit = (await ann.call('GET', `/api/workspaces/${workspace.id}/audit?limit=1`)).body.entries[0];
  expect(audit).toMatchObject({ action: 'articles.restored', targetId: id, details: { revisionId } });
  // What it replaced is Ben's, of a moment ago, and is kept all the same.
  expect(await titlesKept(id)).toEqual(['New name', 'Old name']);
  expect((await restore(ben, id, revisionId)).body.article).toEqual(answer.body.article);
  expect(await titlesKept(id)).toHaveLength(2);

  await ann.openJob(read.body.article);
  const refused = await restore(ben, id, revisionId);
  expect([refused.status, refused.body.details.reason]).toEqual([409, 'job_running']);
});

it('a large article comes back as it was, from bytes that Postgres keeps compressed', async () => {
  const document = longDocument(30_000);
  const { id } = await ann.create(projectId, { documentJson: document });
  await ben.patch(id, { documentJson: documentOf(paragraph('Short')) });
  const { rows } = await sql<{ bytes: number; id: string }>`
    SELECT id, pg_column_size(document) AS bytes FROM article_revisions WHERE article_id = ${id}`.execute(
    service.db,
  );
  const [{ bytes = 0, id: revisionId = '' } = {}] = rows;
  expect(bytes).toBeLessThan(JSON.stringify(document).length / 2);
  const answer = await restore(ben, id, revisionId);
  expect(answer.body.article.documentJson).toEqual(document);
  expect(answer.body.article.wordCount).toBe(30_000);
});

// contract.md V7
it('an image that was deleted meanwhile does not come back, and is named; one that became the hero is refused', async () => {
  const { id } = await ann.create(projectId);
  const upload = async () => (await ann.upload('POST', `/api/articles/${id}/assets`, PNG)).body.asset.id;
  const [gone, hero] = [await upload(), await upload()];
  const image = (blockId: string, assetId: string) => ({
    id: blockId,
    type: 'image',
    assetId,
    altText: 'A dot',
  });
  await ann.patch(id, { documentJson: documentOf(paragraph('One'), image('gone', gone)) });
  await ben.patch(id, { documentJson: documentOf(paragraph('Two'), image('hero', hero)) });
  await ann.patch(id, { documentJson: documentOf(paragraph('Three')) });
  const [withHero, withGone] = (await ann.call('GET', revisionsOf(id))).body.revisions;
  await ann.call('DELETE', `/api/articles/${id}/assets/${gone}`);
  const restored = await restore(ann, id, withGone.id);
  expect(restored.body).toMatchObject({ missingImages: [gone], article: { contentHtml: '<p>One</p>' } });

  await service.db.updateTable('assets').set({ role: 'hero' }).where('id', '=', hero).execute();
  const refused = await restore(ann, id, withHero.id);
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/documentJson/blocks/1/assetId']);
});

it('a translation is kept as its job wrote it when a person edits it, and the draft that it filled is not', async () => {
  await service.startWorker();
  const { id } = await ann.create(projectId);
  const { job, article } = await translating(service).translateTo(workspace, id);
  expect(await titlesKept(article.id)).toEqual([]);
  await ann.patch(article.id, { title: 'Mejor' });
  const [revision] = (await ann.call('GET', revisionsOf(article.id))).body.revisions;
  expect(revision).toMatchObject({ title: article.title, author: { kind: 'job', id: job.id } });
  expect(await restore(ann, article.id, revision.id)).toMatchObject({
    body: { article: { title: article.title, documentJson: article.documentJson, status: 'NEEDS_REVIEW' } },
  });
});

// contract.md V8
it('revisions go with their article, and with the retention', async () => {
  const count = async () =>
    (
      await service.db
        .selectFrom('article_revisions')
        .select('id')
        .where('workspace_id', '=', workspace.id)
        .execute()
    ).length;
  const [{ id }, gone] = [await ann.create(projectId), await ann.create(projectId)];
  for (let round = 0; round < 3; round += 1) {
    await writeAsJob(id, `Kept ${round}`);
    await writeAsJob(gone.id, `Gone ${round}`);
  }
  const before = await count();
  expect((await ann.remove(gone.id)).status).toBe(200);
  expect(await count()).toBe(before - 3);

  await sql`UPDATE article_revisions SET created_at = now() - interval '31 days'
    WHERE article_id = ${id} AND title <> 'Kept 1'`.execute(service.db);
  // More of them than one batch takes.
  await sql`INSERT INTO article_revisions
      (workspace_id, article_id, title, document, target_keywords, secondary_keywords, created_at)
    SELECT ${workspace.id}, ${id}, 'Old', '{}', '{}', '{}', now() - interval '40 days'
    FROM generate_series(1, 450)`.execute(service.db);
  const retentionMs = 30 * 86_400_000;
  let batches = 0;
  const onProgress = () => {
    batches += 1;
  };
  // A batch leaves alone what a save is removing right now.
  await service.db.transaction().execute(async (tx) => {
    await sql`SELECT FROM article_revisions WHERE article_id = ${id} AND title = 'Kept 0' FOR UPDATE`.execute(
      tx,
    );
    expect(await pruneRevisions(service.db, { retentionMs, onProgress })).toBe(451);
  });
  expect(batches).toBe(3);
  expect(await pruneRevisions(service.db, { retentionMs })).toBe(1);
  expect(await titlesKept(id)).toEqual(['Kept 1']);
});

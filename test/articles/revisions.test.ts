import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { lockArticle } from '../../src/articles/lock.ts';
import { MAX_REVISIONS, replaceContent } from '../../src/articles/revisions/keep.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { type ArticleId, type JobId, newId, type ProjectId } from '../../src/ids.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { type Editing, editing } from './support.ts';

const service = useTestService();

let workspace: TestWorkspace;
let projectId: ProjectId;
/** Two people with a key each. */
let ann: Editing;
let ben: Editing;

beforeAll(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  ann = editing(service, workspace);
  const created = await ann.call('POST', `/api/workspaces/${workspace.id}/api-keys`, {
    label: 'Ben',
    roleId: workspace.roles.editor,
  });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
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

it('a save that changes nothing, or the slug alone, keeps nothing', async () => {
  const { id } = await ann.create(projectId, { title: 'Same' });
  await ben.patch(id, { title: 'Same' });
  expect((await ben.patch(id, { slug: 'by-hand' })).body.article.slug).toBe('by-hand');
  expect(await titlesKept(id)).toEqual([]);
});

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

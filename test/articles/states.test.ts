import { beforeAll, expect, it } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import { type ArticleAction, allows, TRANSITIONS } from '../../src/articles/states.ts';
import { ARTICLE_STATUSES, type ArticleStatus } from '../../src/db/tables.ts';
import type { ArticleId, ProjectId } from '../../src/ids.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { type Editing, editing } from './support.ts';

const service = useTestService();

let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;

beforeAll(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});

/** From, action, to, events. */
type Row = [ArticleStatus, ArticleAction, string, string[]];
/** Each row of contract.md R1 that a person causes. */
const ROWS: Row[] = [
  ['DRAFT', 'submit', 'NEEDS_REVIEW', []],
  ['CHANGES_REQUESTED', 'submit', 'NEEDS_REVIEW', []],
  ['NEEDS_REVIEW', 'approve', 'APPROVED', ['article.approved']],
  ['NEEDS_REVIEW', 'reject', 'CHANGES_REQUESTED', ['article.rejected']],
  ['APPROVED', 'reject', 'CHANGES_REQUESTED', ['article.rejected']],
  ['PUBLISHED', 'reject', 'CHANGES_REQUESTED', ['article.rejected', 'article.unpublished']],
  ['NEEDS_REVIEW', 'request_changes', 'CHANGES_REQUESTED', ['article.rejected']],
  ['APPROVED', 'request_changes', 'CHANGES_REQUESTED', ['article.rejected']],
  ['PUBLISHED', 'request_changes', 'CHANGES_REQUESTED', ['article.rejected', 'article.unpublished']],
  ['APPROVED', 'publish', 'PUBLISHED', ['article.published']],
  ['PUBLISHED', 'unpublish', 'DRAFT', ['article.unpublished']],
  ['DRAFT', 'delete', 'DELETED', []],
  ['NEEDS_REVIEW', 'delete', 'DELETED', []],
  ['CHANGES_REQUESTED', 'delete', 'DELETED', []],
  ['APPROVED', 'delete', 'DELETED', []],
  ['PUBLISHED', 'delete', 'DELETED', ['article.unpublished']],
  ['DRAFT', 'edit', 'DRAFT', []],
  ['NEEDS_REVIEW', 'edit', 'NEEDS_REVIEW', []],
  ['CHANGES_REQUESTED', 'edit', 'CHANGES_REQUESTED', []],
  ['APPROVED', 'edit', 'APPROVED', []],
  ['PUBLISHED', 'edit', 'PUBLISHED', ['article.updated']],
  ...(['DRAFT', 'NEEDS_REVIEW', 'CHANGES_REQUESTED', 'APPROVED'] as const).flatMap((status) =>
    (['attach', 'detach'] as const).map((action): Row => [status, action, status, []]),
  ),
];
const ACTIONS = Object.keys(TRANSITIONS) as ArticleAction[];
const rowOf = (from: ArticleStatus, action: ArticleAction) =>
  ROWS.find((row) => row[0] === from && row[1] === action);

const perform = (action: ArticleAction, id: string) =>
  ({
    edit: () => editor.patch(id, { metaTitle: 'New' }),
    submit: () => editor.submit(id),
    approve: () => editor.review(id, 'approved'),
    reject: () => editor.review(id, 'rejected'),
    request_changes: () => editor.review(id, 'changes_requested'),
    publish: () => editor.publish(id),
    unpublish: () => editor.unpublish(id),
    delete: () => editor.remove(id),
    attach: async () => {
      const { id: sourceId } = await editor.create(projectId, { primaryLanguage: 'de' });
      return editor.call('POST', `/api/articles/${sourceId}/translations/attach`, { articleId: id });
    },
    detach: () => editor.call('POST', `/api/articles/${id}/translations/detach`),
  })[action]();

const stored = (id: string) =>
  service.db
    .selectFrom('articles')
    .selectAll()
    .where('id', '=', id as ArticleId)
    .executeTakeFirst();

async function articleIn(status: ArticleStatus): Promise<Article> {
  const article = await editor.create(projectId);
  await editor.setStatus(article.id, status);
  return article;
}

it('the table in the code has exactly the rows of the contract', () => {
  for (const from of ARTICLE_STATUSES) {
    for (const action of ACTIONS) {
      const row = rowOf(from, action);
      expect([from, action, allows(action, from)]).toEqual([from, action, row !== undefined]);
      const { to } = TRANSITIONS[action];
      if (row !== undefined) expect(row[2]).toBe(to === 'same' ? from : to);
    }
  }
});

// contract.md R1 and R6
it('every move from every status ends as the table says, with its events, or is 409 and changes nothing', async () => {
  for (const from of ARTICLE_STATUSES) {
    for (const action of ACTIONS) {
      const article = await articleIn(from);
      const before = await stored(article.id);
      const row = rowOf(from, action);
      const response = await perform(action, article.id);
      const after = await stored(article.id);
      const [created, ...types] = await editor.eventTypes(article.id);
      const name = `${from} ${action}`;
      expect(created).toBe('article.created');
      expect(types.sort(), name).toEqual(row?.[3] ?? []);
      if (row === undefined) {
        const reason = from === 'QUEUED' || from === 'PROCESSING' ? 'job_running' : 'status';
        expect([response.status, response.body.code, response.body.details.reason], name).toEqual([
          409,
          'CONFLICT',
          reason,
        ]);
        expect(after, name).toEqual(before);
      } else {
        expect([200, 201], name).toContain(response.status);
        expect(after?.status ?? 'DELETED', name).toBe(row[2]);
      }
    }
  }
});

// contract.md J5
it('a job that is still open owns its article, whatever its status: edits, moves and deletion are 409', async () => {
  for (const from of ['DRAFT', 'NEEDS_REVIEW', 'APPROVED', 'PUBLISHED'] as const) {
    const article = await articleIn(from);
    const jobId = await editor.openJob(article);
    const before = await stored(article.id);
    for (const action of ACTIONS) {
      const response = await perform(action, article.id);
      expect([from, action, response.status, response.body.details.reason]).toEqual([
        from,
        action,
        409,
        'job_running',
      ]);
    }
    expect(await stored(article.id)).toEqual(before);
    await service.db
      .updateTable('jobs')
      .set({ status: 'CANCELLED', ended_at: new Date() })
      .where('id', '=', jobId)
      .execute();
    expect((await editor.remove(article.id)).status).toBe(200);
    expect(await service.db.selectFrom('jobs').select('id').where('id', '=', jobId).execute()).toEqual([]);
  }
});

it('of ten reviews at once only those the states allow in turn count, and each sends one event', async () => {
  const article = await articleIn('NEEDS_REVIEW');
  const decisions = ['approved', 'rejected'];
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => editor.review(article.id, decisions[index % 2] ?? '')),
  );
  const won = answers.filter(({ status }) => status === 201);
  // An approved article may still be rejected, by one.
  expect(won.length).toBeGreaterThanOrEqual(1);
  expect(won.length).toBeLessThanOrEqual(2);
  expect(answers.filter(({ status }) => status === 409).length).toBe(10 - won.length);
  expect((await editor.eventTypes(article.id)).length).toBe(1 + won.length);
});

// contract.md E5
it('payloads of reviews, publishing, unpublishing and deletion are those of the contract', async () => {
  const { id } = await editor.create(projectId, { title: 'Payloads' });
  await editor.submit(id);
  const rejected = await editor.review(id, 'rejected');
  await editor.submit(id);
  const approved = await editor.review(id, 'approved');
  const { body } = await editor.publish(id);
  const article: Article = body.article;
  const sentBack = await editor.call('POST', `/api/articles/${id}/reviews`, {
    decision: 'changes_requested',
    comment: '  Name the plants. ',
  });
  await editor.submit(id);
  await editor.review(id, 'approved');
  const again: Article = (await editor.publish(id)).body.article;
  await editor.remove(id);

  const set = {
    articleId: id,
    workspaceId: workspace.id,
    projectId,
    slug: 'payloads',
    primaryLanguage: 'en',
    translationGroupId: article.translationGroupId,
    title: 'Payloads',
  };
  const events = (await editor.events(id)).slice(1);
  expect(events.map(({ event, data }) => [event, data])).toEqual(
    expect.arrayContaining([
      ['article.rejected', { articleId: id, reviewId: rejected.body.review.id, decision: 'rejected' }],
      [
        'article.approved',
        { articleId: id, reviewId: approved.body.review.id, previousStatus: 'NEEDS_REVIEW' },
      ],
      ['article.published', { ...set, status: 'PUBLISHED' }],
      [
        'article.rejected',
        { articleId: id, reviewId: sentBack.body.review.id, decision: 'changes_requested' },
      ],
      [
        'article.unpublished',
        {
          ...set,
          status: 'CHANGES_REQUESTED',
          previousStatus: 'PUBLISHED',
          reason: 'status_changed',
        },
      ],
      ['article.unpublished', { ...set, status: 'DELETED', previousStatus: 'PUBLISHED', reason: 'deleted' }],
    ]),
  );
  expect(events.length).toBe(8);
  expect(sentBack.body.review).toEqual({
    id: expect.any(String),
    articleId: id,
    workspaceId: workspace.id,
    decision: 'changes_requested',
    previousStatus: 'PUBLISHED',
    comment: 'Name the plants.',
    contentTag: null,
    createdAt: expect.any(String),
  });
  expect(sentBack.body.article.publishedAt).toBe(article.publishedAt);
  expect(article.publishedAt).not.toBeNull();
  expect(Date.parse(again.publishedAt ?? '')).toBeGreaterThan(Date.parse(article.publishedAt ?? ''));
});

it('reviews are listed newest first, page by page', async () => {
  const { id } = await editor.create(projectId);
  const ids: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    await editor.submit(id);
    ids.unshift((await editor.review(id, 'changes_requested')).body.review.id);
  }
  const first = await editor.call('GET', `/api/articles/${id}/reviews?limit=2`);
  const rest = await editor.call(
    'GET',
    `/api/articles/${id}/reviews?limit=2&cursor=${first.body.nextCursor}`,
  );
  expect([...first.body.reviews, ...rest.body.reviews].map((review) => review.id)).toEqual(ids);
  expect(rest.body.nextCursor).toBeNull();
});

import { expect } from 'vitest';
import { checkLinks } from '../../src/articles/links/check.ts';
import type { Article } from '../../src/articles/schemas.ts';
import type { Database } from '../../src/db/database.ts';
import type { ArticleStatus, JobPurpose } from '../../src/db/tables.ts';
import { type ArticleId, type JobId, newOrderedId, type ProjectId } from '../../src/ids.ts';
import { PURPOSES } from '../../src/jobs/purposes.ts';
import { listenToAll } from '../support/events.ts';
import type { Answer, TestService, TestWorkspace } from '../support/service.ts';

export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

export const paragraph = (text: string, id = 'p') => ({ id, type: 'paragraph' as const, text });
export const documentOf = (...blocks: object[]) => ({ version: 1 as const, blocks });

/** What a worker does by itself: checks until no article is left whose links may lead elsewhere. */
export const checkAllLinks = (db: Database): Promise<void> =>
  checkLinks(db, {
    signal: new AbortController().signal,
    onError: (error) => {
      throw error;
    },
  });

/** What editors do, over HTTP with the workspace's own key. */
export const editing = (service: TestService, workspace: TestWorkspace) => {
  const call = (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> => service.call(workspace.key, method, path, body, headers);
  let listening: Promise<unknown> | undefined;
  /** Events are stored for those who listen: for one who sends nothing on, where the test has no receiver. */
  const listen = async () => {
    const { db } = service;
    const endpoint = db.selectFrom('webhook_endpoints').select('id').where('workspace_id', '=', workspace.id);
    if ((await endpoint.executeTakeFirst()) === undefined) await listenToAll(db, workspace.id);
  };
  const of = (id: string, more = '') => `/api/articles/${id}${more}`;
  const self = {
    call,
    read: async (id: string): Promise<Article> => (await call('GET', of(id))).body.article,
    async create(projectId: ProjectId, body: Record<string, unknown> = {}): Promise<Article> {
      listening ??= listen();
      await listening;
      const answer = await call('POST', `/api/projects/${projectId}/articles`, {
        title: 'A garden',
        documentJson: documentOf(paragraph('Water the young plants.')),
        ...body,
      });
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      return answer.body.article;
    },
    patch: (id: string, body: unknown, ifMatch?: string) =>
      call('PATCH', of(id), body, ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    remove: (id: string) => call('DELETE', of(id)),
    submit: (id: string) => call('POST', of(id, '/submit')),
    review: (id: string, decision: string) => call('POST', of(id, '/reviews'), { decision }),
    publish: (id: string, publishedUrl?: string) =>
      call('POST', of(id, '/publish'), publishedUrl === undefined ? undefined : { publishedUrl }),
    unpublish: (id: string) => call('POST', of(id, '/unpublish')),
    async published(projectId: ProjectId, body: Record<string, unknown> = {}): Promise<Article> {
      const { id } = await self.create(projectId, body);
      await self.submit(id);
      await self.review(id, 'approved');
      const answer = await self.publish(id);
      expect(answer.status).toBe(200);
      return answer.body.article;
    },
    /** Sends bytes as they are. */
    async upload(method: 'POST' | 'PUT', path: string, bytes: Uint8Array, type = 'image/png') {
      const response = await fetch(new URL(path, service.url), {
        method,
        headers: { authorization: `Bearer ${workspace.key}`, 'content-type': type },
        body: new Uint8Array(bytes),
      });
      const { status, headers } = response;
      // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
      return { status, headers, body: (await response.json()) as any };
    },
    /** The events of an article, oldest first, as receivers get them. */
    async events(articleId: string): Promise<{ event: string; data: Record<string, unknown> }[]> {
      const rows = await service.db
        .selectFrom('events')
        .select(['type', 'body'])
        .where('article_id', '=', articleId)
        .orderBy('id')
        .execute();
      return rows.map(({ body }) => JSON.parse(body.toString()));
    },
    eventTypes: async (articleId: string) => (await self.events(articleId)).map(({ event }) => event),
    setStatus: (id: string, status: ArticleStatus) =>
      service.db
        .updateTable('articles')
        .set({ status })
        .where('id', '=', id as ArticleId)
        .execute(),
    /** An open job on the article, as a run in progress has one. */
    async openJob(article: Article, purpose: JobPurpose = 'generate'): Promise<JobId> {
      // In the order of their making, also within one millisecond.
      const id = newOrderedId<JobId>();
      await service.db
        .insertInto('jobs')
        .values({
          id,
          workspace_id: workspace.id,
          project_id: article.projectId as ProjectId,
          article_id: article.id as ArticleId,
          kind: PURPOSES[purpose].kind,
          purpose,
          status: 'QUEUED',
          idempotency_key: `test-${id}`,
          estimated_credits: 0,
          reserved_credits: 0,
          workflow_id: `test-${id}`,
        })
        .execute();
      return id;
    },
    storageUsed: async () =>
      (
        await service.db
          .selectFrom('workspaces')
          .select('storage_bytes_used')
          .where('id', '=', workspace.id)
          .executeTakeFirstOrThrow()
      ).storage_bytes_used,
    auditActions: async (targetId: string) =>
      (
        await service.db
          .selectFrom('audit_entries')
          .select('action')
          .where('target_id', '=', targetId)
          .orderBy('created_at')
          .execute()
      ).map(({ action }) => action),
  };
  return self;
};

export type Editing = ReturnType<typeof editing>;

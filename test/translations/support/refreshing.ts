import { expect } from 'vitest';
import type { Article } from '../../../src/articles/schemas.ts';
import { readTextBytes } from '../../../src/db/quotas.ts';
import type { ArticleStatus } from '../../../src/db/tables.ts';
import type { DocumentJson } from '../../../src/document/format/schema.ts';
import type { ArticleId } from '../../../src/ids.ts';
import type { Job } from '../../../src/jobs/schemas.ts';
import type { TranslationState } from '../../../src/translations/refresh/schemas.ts';
import { createArticle } from '../../support/articles.ts';
import { useTranslations } from '../../support/translating.ts';
import { addAsset } from './images.ts';

/** Eight paragraphs, p0 to p7. */
export const SOURCE: DocumentJson = {
  version: 1,
  blocks: Array.from({ length: 8 }, (_, index) => ({
    id: `p${index}`,
    type: 'paragraph' as const,
    text: `The text of number ${index} here.`,
  })),
};

/** The document with some of its texts replaced. */
export const withTexts = (document: DocumentJson, texts: Record<string, string>): DocumentJson => ({
  version: 1,
  blocks: document.blocks.map((block) => ({
    ...block,
    ...(texts[block.id] ? { text: texts[block.id] } : {}),
  })) as DocumentJson['blocks'],
});

export const textOf = ({ documentJson }: Pick<Article, 'documentJson'>, id: string): string | undefined => {
  const block = documentJson.blocks.find((each) => each.id === id);
  return block !== undefined && 'text' in block ? block.text : undefined;
};

/** What a file about refreshes needs: that of translations, and the calls around a refresh and its proposals. */
export function useRefreshes() {
  const { service, provider, workspace, calls } = useTranslations({ credits: 100 });
  const call = (
    method: string,
    path: string,
    body?: unknown,
    key = workspace.key,
    headers?: Record<string, string>,
  ) => service.call(key, method, `/api/articles/${path}`, body, headers);
  const stateOf = async (articleId: string, query = '') => {
    const { status, body, headers } = await call('GET', `${articleId}/translation-state${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return { ...(body as TranslationState), tag: headers.get('etag') ?? '' };
  };
  const refresh = async (articleId: string, body?: unknown) => {
    const response = await call('POST', `${articleId}/refresh`, body);
    expect(response.status, JSON.stringify(response.body)).toBe(202);
    return response.body as { job: Job; estimate: Record<string, number> };
  };
  return {
    ...{ service, provider, workspace, calls, call, refresh },
    /** A source and its finished translation. */
    async translated(document = SOURCE) {
      const source = await createArticle(service.db, workspace, await service.project(workspace), {
        document,
      });
      const { article: version } = await calls.translateTo(workspace, source.id);
      return { source, version };
    },
    async save(articleId: string, documentJson: DocumentJson) {
      expect((await call('PATCH', articleId, { documentJson })).status).toBe(200);
    },
    async refreshTo(articleId: string, body?: unknown) {
      const { job, estimate } = await refresh(articleId, body);
      return { job: await calls.untilFinal(workspace, job.id), estimate };
    },
    read: (articleId: string) => calls.readArticle(workspace, articleId),
    proposals: async (articleId: string) => (await call('GET', `${articleId}/proposals`)).body.proposals,
    stateOf,
    /** Sends a body about the state as it is, or about that of a tag. */
    async sendAbout(
      path: 'proposals/decide' | 'mark-current',
      articleId: string,
      body: unknown,
      tag?: string,
    ) {
      const ifMatch = tag ?? (await stateOf(articleId)).tag;
      return call('POST', `${articleId}/${path}`, body, workspace.key, { 'if-match': ifMatch });
    },
    decide: (articleId: string, id: string, decision: 'accept' | 'reject') =>
      call('POST', `${articleId}/proposals/${id}/${decision}`),
    wallet: () => calls.readWallet(workspace),
    async moveTo(articleId: string, status: ArticleStatus): Promise<void> {
      await service.db
        .updateTable('articles')
        .set({ status })
        .where('id', '=', articleId as ArticleId)
        .execute();
    },
    /** Lets no engine answer until the returned function is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      provider.behave = () => promise;
      return resolve;
    },
    /** The data of the article.updated events of an article, oldest first. */
    async updatesOf(articleId: string): Promise<unknown[]> {
      const rows = await service.db
        .selectFrom('events')
        .select('body')
        .where('article_id', '=', articleId)
        .where('type', '=', 'article.updated')
        .orderBy('id')
        .execute();
      return rows.map(({ body }) => JSON.parse(body.toString()).data);
    },
    /** An image of 700 bytes of the article, whose bytes are stored. */
    async addImage(articleId: ArticleId, role: 'hero' | 'inline') {
      await service.db
        .insertInto('blobs')
        .values({ hash: (role === 'hero' ? 'a' : 'b').repeat(64), size: 700 })
        .onConflict((on) => on.doNothing())
        .execute();
      return addAsset(service, workspace, articleId, role, 700);
    },
    /** Sets the workspace's storage quota: its texts so far, and bytes for images. */
    limit: async (bytes: number) =>
      service.db
        .updateTable('workspaces')
        .set({ storage_bytes_limit: (await readTextBytes(service.db, workspace.id)) + bytes })
        .where('id', '=', workspace.id)
        .execute(),
  };
}

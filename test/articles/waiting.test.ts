import { availableParallelism } from 'node:os';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { RENDERER } from '../../src/document/render/shared.ts';
import { type ArticleId, type AssetId, newId } from '../../src/ids.ts';
import { closeThreads, doTaskWithin } from '../../src/threads/pool.ts';
import { onBehalfOf } from '../../src/threads/share.ts';
import { createArticle, longDocument } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { checkAllLinks } from './support.ts';

const service = useTestService();
afterAll(closeThreads);

/** As many as there may be on this machine. */
const THREADS = Math.max(2, Math.min(4, availableParallelism() - 1));

/** Work for threads, of others for all of them if not told otherwise, which takes far longer than it is given. */
const occupyThreads = (ms = 2_000, owner?: string, threads = THREADS): Promise<unknown> => {
  const text = '[a](b'.repeat(40_000);
  const blocks = [{ id: 'b', type: 'paragraph', format: 'markdown', text }];
  const json = JSON.stringify({ version: 1, blocks });
  return Promise.allSettled(
    Array.from({ length: threads }, (_, index) =>
      onBehalfOf(owner ?? `other ${index}`, () => doTaskWithin(ms, 'count', json)),
    ),
  );
};

const pause = () => new Promise((resolve) => setTimeout(resolve, 1_000));

/** Refused at once where somebody holds the article's row. */
const takeLock = (id: string) =>
  sql`SELECT FROM articles WHERE id = ${id} FOR UPDATE NOWAIT`.execute(service.db);

// contract.md F15
it('publishing, duplication and a translation of large articles hold no lock while they wait for a thread', async () => {
  const requests = await Promise.all(
    (
      [
        ['publish', {}, 200],
        ['duplicate', {}, 201],
        ['translations', { language: 'es' }, 202],
      ] as const
    ).map(async ([path, body, expected]) => {
      const workspace = await service.workspace(100);
      const { id } = await createArticle(service.db, workspace, await service.project(workspace), {
        document: longDocument(5_000),
        status: 'APPROVED',
      });
      // Publishing waits for a thread only to do again what an older renderer has made.
      await service.db
        .updateTable('articles')
        .set({ rendered_by: RENDERER - 1 })
        .where('id', '=', id)
        .execute();
      const send = () => service.call(workspace.key, 'POST', `/api/articles/${id}/${path}`, body);
      return { id, path, expected, send };
    }),
  );
  const busy = occupyThreads();
  const answered: string[] = [];
  const responses = requests.map(({ path, send }) => send().finally(() => answered.push(path)));
  await pause();
  // Nobody else waits for the articles.
  expect(answered).toEqual([]);
  for (const { id } of requests) await takeLock(id);
  await busy;
  const statuses = (await Promise.all(responses)).map(({ status }) => status);
  expect(statuses).toEqual(requests.map(({ expected }) => expected));
});

const setAddress = (id: ArticleId) =>
  service.db
    .updateTable('articles')
    .set({ published_url: 'https://example.com/target' })
    .where('id', '=', id)
    .execute();

/** A large article that shows two images and links to a published one. */
async function createLinker(workspace: TestWorkspace) {
  const projectId = await service.project(workspace);
  const target = await createArticle(service.db, workspace, projectId, { status: 'PUBLISHED' });
  const assetIds = [newId<AssetId>(), newId<AssetId>()] as const;
  const document: DocumentJson = {
    version: 1,
    blocks: [
      ...longDocument(5_000).blocks,
      { id: 'l', type: 'paragraph', text: 'See there.', links: [{ text: 'there', articleId: target.id }] },
      ...assetIds.map((assetId, index) => ({
        id: `i${index}`,
        type: 'image' as const,
        assetId,
        altText: '',
      })),
    ],
  };
  const { id } = await createArticle(service.db, workspace, projectId, { document });
  const hash = 'b'.repeat(64);
  await service.db
    .insertInto('assets')
    .values(
      assetIds.map((assetId) => ({
        id: assetId,
        workspace_id: workspace.id,
        article_id: id,
        role: 'inline' as const,
        content_hash: hash,
        media_type: 'image/png',
        byte_size: 0,
        file_name: 'a.png',
        alt_text: 'Old',
      })),
    )
    .execute();
  const call = (method: string, path: string, body?: unknown) =>
    service.call(workspace.key, method, `/api/articles/${path}`, body);
  return {
    id,
    target,
    call,
    setAlt: (index: 0 | 1, altText: string) => call('PATCH', `${id}/assets/${assetIds[index]}`, { altText }),
    remove: (index: 0 | 1) => call('DELETE', `${id}/assets/${assetIds[index]}`),
    html: async (): Promise<string> => (await call('GET', id)).body.article.contentHtml,
  };
}

it('images and links of a large article change while no thread is free', async () => {
  const { id, target, call, setAlt, remove, html } = await createLinker(await service.workspace());
  await setAddress(target.id);
  const busy = occupyThreads();
  expect((await setAlt(0, 'New')).status).toBe(200);
  expect((await html()).match(/<a href="[^"]+"|alt="\w+"/g)).toEqual([
    '<a href="https://example.com/target"',
    'alt="New"',
    'alt="Old"',
  ]);
  expect((await call('POST', `${target.id}/unpublish`)).status).toBe(200);
  expect(await html()).not.toContain('<a ');
  await checkAllLinks(service.db);
  expect((await remove(1)).status).toBe(200);
  expect((await html()).match(/alt="\w+"/g)).toEqual(['alt="New"']);
  await takeLock(id);
  await busy;
});

it('shows both of two changes that were made of a large article at once', async () => {
  const { setAlt, html } = await createLinker(await service.workspace());
  const responses = await Promise.all([setAlt(0, 'First'), setAlt(1, 'Second')]);
  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  expect((await html()).match(/alt="\w+"/g)).toEqual(['alt="First"', 'alt="Second"']);
});

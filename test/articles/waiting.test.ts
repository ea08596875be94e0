import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { closeThreads, doTaskWithin } from '../../src/document/threads/pool.ts';
import { onBehalfOf } from '../../src/document/threads/share.ts';
import { createArticle, longDocument } from '../support/articles.ts';
import { useTestService } from '../support/service.ts';

const service = useTestService();
afterAll(closeThreads);

/** Work of others for as many threads as there may be, which takes far longer than it is given. */
const occupyThreads = (): Promise<unknown> => {
  const text = '[a](b'.repeat(40_000);
  const blocks = [{ id: 'b', type: 'paragraph', format: 'markdown', text }];
  const json = JSON.stringify({ version: 1, blocks });
  return Promise.allSettled(
    Array.from({ length: 4 }, (_, index) =>
      onBehalfOf(`other ${index}`, () => doTaskWithin(2_000, 'count', json)),
    ),
  );
};

it.each([
  ['publishing', 'publish', {}, 200],
  ['duplication', 'duplicate', {}, 201],
  ['a translation', 'translations', { language: 'es' }, 202],
])('%s of a large article holds no lock while it waits for a thread', async (_, path, body, status) => {
  const workspace = await service.workspace(100);
  const { id } = await createArticle(service.db, workspace, await service.project(workspace), {
    document: longDocument(5_000),
    status: 'APPROVED',
  });
  const busy = occupyThreads();
  let answered = false;
  const request = service.call(workspace.key, 'POST', `/api/articles/${id}/${path}`, body).finally(() => {
    answered = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(answered).toBe(false);
  await sql`SELECT FROM articles WHERE id = ${id} FOR UPDATE NOWAIT`.execute(service.db);
  await busy;
  expect((await request).status).toBe(status);
});

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type AssetId, type JobId, newId } from '../../src/ids.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { createArticle } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { connectOperator, type Operator } from '../support/temporal.ts';
import { createStandIn, translating } from '../support/translating.ts';

const service = useTestService();

let operator: Operator;
let workspace: TestWorkspace;
let calls: ReturnType<typeof translating>;
const provider = createStandIn();

beforeAll(async () => {
  operator = await connectOperator();
  calls = translating(service);
  await service.startWorker({ provider });
});
afterAll(async () => {
  await operator.close();
});
beforeEach(async () => {
  provider.behave = async () => undefined;
  workspace = await service.workspace(10);
});

const bytesUsed = async () =>
  (
    await service.db
      .selectFrom('workspaces')
      .select('storage_bytes_used')
      .where('id', '=', workspace.id)
      .executeTakeFirstOrThrow()
  ).storage_bytes_used;

/** An article whose body shows an image of 700 bytes. */
async function createIllustrated() {
  const assetId = newId<AssetId>();
  const source = await createArticle(service.db, workspace, await service.project(workspace), {
    document: {
      version: 1,
      blocks: [
        { id: 'p', type: 'paragraph', text: 'A plan of the beds.' },
        { id: 'i', type: 'image', assetId, altText: 'Six beds', caption: 'The plan' },
      ],
    },
  });
  await service.db
    .insertInto('blobs')
    .values({ hash: 'b'.repeat(64), size: 700 })
    .onConflict((on) => on.doNothing())
    .execute();
  await service.db
    .insertInto('assets')
    .values({
      id: assetId,
      workspace_id: workspace.id,
      article_id: source.id,
      role: 'inline',
      content_hash: 'b'.repeat(64),
      media_type: 'image/png',
      byte_size: 700,
      file_name: 'plan.png',
      alt_text: 'Beds from above',
    })
    .execute();
  return { source, assetId };
}

async function translate(articleId: string, language = 'es') {
  const { status, body } = await service.call(
    workspace.key,
    'POST',
    `/api/articles/${articleId}/translations`,
    { language },
  );
  expect(status).toBe(202);
  return body;
}

it('images are copied as rows of their own that share the bytes, and count toward the quota', async () => {
  const { source, assetId } = await createIllustrated();
  const { article, job } = await translate(source.id);
  expect(await bytesUsed()).toBe(700);
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'COMPLETED' });
  const copies = await service.db
    .selectFrom('assets')
    .select(['id', 'content_hash', 'byte_size', 'alt_text', 'role'])
    .where('article_id', '=', article.id)
    .execute();
  expect(copies).toEqual([
    {
      id: expect.not.stringMatching(assetId),
      content_hash: 'b'.repeat(64),
      byte_size: 700,
      alt_text: expect.not.stringMatching('Beds from above'),
      role: 'inline',
    },
  ]);
  const { documentJson } = await calls.readArticle(workspace, article.id);
  expect(documentJson.blocks[1]).toMatchObject({ id: 'i', type: 'image', assetId: copies[0]?.id });
  expect(await bytesUsed()).toBe(700);
});

it('a failed or cancelled run gives its bytes back and leaves no copy', async () => {
  provider.behave = async () => {
    throw new ProviderError('fatal', 'The engine does not know this language pair.');
  };
  const { source } = await createIllustrated();
  const failing = await translate(source.id);
  expect(await calls.untilFinal(workspace, failing.job.id)).toMatchObject({ status: 'FAILED', progress: 0 });
  expect(await bytesUsed()).toBe(0);
  await service.stopWorkers();
  const cancelled = await translate(source.id);
  expect(cancelled.article.id).toBe(failing.article.id);
  expect(await bytesUsed()).toBe(700);
  await calls.cancel(workspace, cancelled.job.id);
  expect(await bytesUsed()).toBe(0);
  const copies = await service.db
    .selectFrom('assets')
    .select('id')
    .where('article_id', '=', failing.article.id)
    .execute();
  expect(copies).toEqual([]);
  await service.startWorker({ provider });
});

it('a draft that a cancelled run left is reused, with the categories the source has now', async () => {
  const { source } = await createIllustrated();
  const categories: string[] = [];
  for (const name of ['Beds', 'Water']) {
    const { body } = await service.call(workspace.key, 'POST', `/api/workspaces/${workspace.id}/categories`, {
      primaryLanguage: 'en',
      translations: [{ language: 'en', name }],
    });
    categories.push(body.category.id);
  }
  const assign = (ids: string[]) =>
    service.call(workspace.key, 'PUT', `/api/articles/${source.id}/categories`, { categoryIds: ids });
  await assign(categories);
  const first = await translate(source.id);
  await calls.cancel(workspace, first.job.id);
  await assign(categories.slice(1));
  const second = await translate(source.id);
  expect(second.article.id).toBe(first.article.id);
  const links = await service.db
    .selectFrom('article_categories')
    .select('category_id')
    .where('article_id', '=', first.article.id)
    .execute();
  expect(links).toEqual([{ category_id: categories[1] }]);
});

it('editing or deleting the source while the job runs changes nothing in its result', async () => {
  let edited = false;
  const { source } = await createIllustrated();
  provider.behave = async () => {
    if (edited) return;
    edited = true;
    await service.call(workspace.key, 'PATCH', `/api/articles/${source.id}`, { title: 'Edited' });
    expect((await service.call(workspace.key, 'DELETE', `/api/articles/${source.id}`)).status).toBe(200);
  };
  const { article, job } = await translate(source.id);
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'COMPLETED' });
  const translated = await calls.readArticle(workspace, article.id);
  expect(translated.title).not.toContain('Edited');
  expect(translated.documentJson.blocks.map((block) => block.id)).toEqual(['p', 'i']);
});

it('tells the operator who, what and why: summary, memo, search attributes; and the audit who asked', async () => {
  const source = await createArticle(service.db, workspace, await service.project(workspace));
  const answer = await service.call(
    workspace.key,
    'POST',
    `/api/articles/${source.id}/translations`,
    { language: 'es' },
    { 'x-request-id': 'request-of-the-test' },
  );
  const { article, job } = answer.body;
  expect(answer.headers.get('x-request-id')).toBe('request-of-the-test');
  await calls.untilFinal(workspace, job.id);
  const run = await operator.client.workflow.getHandle(translationWorkflowId(job.id as JobId)).describe();
  expect(await run.staticSummary()).toBe(`translate ${article.id}: en → es`);
  expect(run.memo).toEqual({ requestId: 'request-of-the-test', jobId: job.id });
  const kept = await operator.kept(run.workflowId);
  expect(kept).toContain('en → es');
  for (const words of ['garden', 'Water', 'young']) expect(kept).not.toContain(words);
  expect(
    Object.fromEntries(run.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value])),
  ).toMatchObject({ WorkspaceId: workspace.id, ArticleId: article.id, JobKind: 'translation' });
  const entries = await service.db
    .selectFrom('audit_entries')
    .select(['actor_kind', 'actor_id', 'action', 'target_id', 'details', 'request_id'])
    .where('workspace_id', '=', workspace.id)
    .where('action', 'like', 'translations.%')
    .execute();
  expect(entries).toEqual([
    {
      actor_kind: 'api_key',
      actor_id: workspace.keyId,
      action: 'translations.created',
      target_id: article.id,
      details: { jobId: job.id, sourceArticleId: source.id, language: 'es', credits: 1 },
      request_id: 'request-of-the-test',
    },
  ]);
});

it('does not count toward the quota of AI operations', async () => {
  const source = await createArticle(service.db, workspace, await service.project(workspace));
  const { job } = await translate(source.id);
  await calls.untilFinal(workspace, job.id);
  expect(await service.db.selectFrom('ai_operation_usage').selectAll().execute()).toEqual([]);
});

it('the empty draft of a failed translation is neither reviewed nor published, and is filled by the next one', async () => {
  provider.behave = async () => {
    throw new ProviderError('fatal', 'The engine does not know this language pair.');
  };
  const { source } = await createIllustrated();
  const { article, job } = await translate(source.id);
  await calls.untilFinal(workspace, job.id);
  const move = (what: string) => service.call(workspace.key, 'POST', `/api/articles/${article.id}/${what}`);
  expect(await move('submit')).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT', details: { reason: 'no_content' } },
  });
  // One that was emptied after its approval is not published either.
  await service.db.updateTable('articles').set({ status: 'APPROVED' }).where('id', '=', article.id).execute();
  expect(await move('publish')).toMatchObject({ status: 409, body: { details: { reason: 'no_content' } } });
  await service.db.updateTable('articles').set({ status: 'DRAFT' }).where('id', '=', article.id).execute();
  provider.behave = async () => undefined;
  const again = await translate(source.id);
  expect(again.article.id).toBe(article.id);
  expect(await calls.untilFinal(workspace, again.job.id)).toMatchObject({ status: 'COMPLETED' });
});

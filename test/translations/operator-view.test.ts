import { expect, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { createArticle } from '../support/articles.ts';
import { useTranslations } from '../support/translating.ts';

const { service, operator, workspace, calls } = useTranslations();

/** A translation that was asked for with a request id of the client's own. */
async function askFor() {
  const source = await createArticle(service.db, workspace, await service.project(workspace));
  const response = await service.call(
    workspace.key,
    'POST',
    `/api/articles/${source.id}/translations`,
    { language: 'es' },
    { 'x-request-id': 'request-of-the-test' },
  );
  expect(response.headers.get('x-request-id')).toBe('request-of-the-test');
  return { source, article: response.body.article, job: response.body.job };
}

it("a run's summary, memo and search attributes say who, what and why, and none of its content", async () => {
  const { article, job } = await askFor();
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
});

// contract.md T18
it('the audit says who asked for a translation, of what and for how much', async () => {
  const { source, article, job } = await askFor();
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

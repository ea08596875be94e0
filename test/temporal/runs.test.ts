import { getEventListeners } from 'node:events';
import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type ArticleId, type JobId, newId, type WorkspaceId } from '../../src/ids.ts';
import { startRun } from '../../src/jobs/start.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { taskQueues } from '../../src/temporal/task-queues.ts';
import { awaitRun, cancelRun, runState } from '../../src/temporal/workflow-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/wait.ts';

const NAMESPACE = `bare-${newId().slice(0, 8)}`;
let connection: Connection;
let client: Client;
let database: TestDatabase;

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
  await connection.workflowService.registerNamespace({
    namespace: NAMESPACE,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  client = new Client({ connection, namespace: NAMESPACE });
  database = await createTestDatabase();
});
afterAll(async () => {
  await connection.close();
  await database.drop();
});

const articleId = newId<ArticleId>();
const start = (jobId: JobId, by = client) =>
  startRun(
    { db: database.db, client: by },
    {
      id: jobId,
      workspace_id: newId<WorkspaceId>(),
      article_id: articleId,
      purpose: 'translate',
      workflow_id: translationWorkflowId(jobId),
      request_id: 'the-request',
      traceparent: null,
    },
    {
      workflow: 'translateArticle',
      taskQueue: taskQueues('runs-').translation,
      summary: `translate ${articleId}`,
    },
  );

it('a namespace without the search attributes gets its runs without them, with summary and memo', async () => {
  const jobId = newId<JobId>();
  // A new namespace is known to every part of the server after some seconds.
  await eventually(
    () => start(jobId).catch(() => null),
    (started) => started !== null,
  );
  const run = await client.workflow.getHandle(translationWorkflowId(jobId)).describe();
  expect(await run.staticSummary()).toBe(`translate ${articleId}`);
  expect(run.memo).toMatchObject({ requestId: 'the-request', jobId });
  expect(run.typedSearchAttributes.getAll()).toEqual([]);
});

it('a namespace that lacks one attribute gets its runs with all others, for one call a start once that is known', async () => {
  await connection.operatorService.addSearchAttributes({
    namespace: NAMESPACE,
    searchAttributes: { WorkspaceId: 2, JobKind: 2 },
  });
  let calls = 0;
  const counting: WorkflowClientInterceptor = {
    start(input, next) {
      calls += 1;
      return next(input);
    },
  };
  const fresh = () =>
    new Client({ connection, namespace: NAMESPACE, interceptors: { workflow: [counting] } });
  const attributesOf = async (jobId: JobId) => {
    const run = await client.workflow.getHandle(translationWorkflowId(jobId)).describe();
    return run.typedSearchAttributes
      .getAll()
      .map(({ key }) => key.name)
      .sort();
  };
  // The server itself knows of new attributes after a moment.
  await eventually(
    async () => {
      const jobId = newId<JobId>();
      await start(jobId, fresh());
      return attributesOf(jobId);
    },
    (names) => names.join() === 'JobKind,WorkspaceId',
  );
  const used = fresh();
  calls = 0;
  await start(newId<JobId>(), used);
  expect(calls).toBe(2);
  const jobId = newId<JobId>();
  await start(jobId, used);
  expect(calls).toBe(3);
  expect(await attributesOf(jobId)).toEqual(['JobKind', 'WorkspaceId']);
});

it('an id starts a run once: also after the run has closed', async () => {
  const jobId = newId<JobId>();
  const workflowId = translationWorkflowId(jobId);
  expect(await runState(client, workflowId)).toBe('unknown');
  expect(await cancelRun(client, workflowId)).toBe(false);
  expect(await start(jobId)).toBe(true);
  expect(await runState(client, workflowId)).toBe('running');
  expect(await start(jobId)).toBe(false);
  await client.workflow.getHandle(workflowId).terminate('done');
  await eventually(
    () => runState(client, workflowId),
    (state) => state === 'closed',
  );
  expect(await start(jobId)).toBe(false);
});

it('who has awaited a run leaves nothing behind at the signal of its process', async () => {
  const { signal } = new AbortController();
  await awaitRun(client, translationWorkflowId(newId<JobId>()), signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type ArticleId, type JobId, newId, type WorkspaceId } from '../../src/ids.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { temporalNames } from '../../src/temporal/names.ts';
import { cancelRun, runState } from '../../src/temporal/runs.ts';
import { startTranslation } from '../../src/translations/start.ts';
import { eventually } from '../support/wait.ts';

const NAMESPACE = `bare-${newId().slice(0, 8)}`;
let connection: Connection;
let client: Client;

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
  await connection.workflowService.registerNamespace({
    namespace: NAMESPACE,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  client = new Client({ connection, namespace: NAMESPACE });
});
afterAll(() => connection.close());

const articleId = newId<ArticleId>();
const start = (jobId: JobId) =>
  startTranslation(client, temporalNames('runs-'), {
    jobId,
    workspaceId: newId<WorkspaceId>(),
    articleId,
    requestId: 'the-request',
    sourceLanguage: 'en',
    targetLanguage: 'es',
  });

it('a namespace without the search attributes gets its runs without them, with summary and memo', async () => {
  const jobId = newId<JobId>();
  // A new namespace is known to every part of the server after some seconds.
  await eventually(
    () => start(jobId).catch(() => null),
    (started) => started !== null,
  );
  const run = await client.workflow.getHandle(translationWorkflowId(jobId)).describe();
  expect(await run.staticSummary()).toBe(`translate ${articleId}: en → es`);
  expect(run.memo).toMatchObject({ requestId: 'the-request', jobId });
  expect(run.typedSearchAttributes.getAll()).toEqual([]);
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
  await sleep(100);
  expect(await runState(client, workflowId)).toBe('closed');
  expect(await start(jobId)).toBe(false);
});

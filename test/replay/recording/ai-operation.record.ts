import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, inject, it } from 'vitest';
import { ProviderError } from '../../../src/providers/types.ts';
import { createStandIn, suggesting } from '../../suggestions/support.ts';
import { createArticle } from '../../support/articles.ts';
import { startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { hang } from '../../support/translating.ts';
import { eventually } from '../../support/wait.ts';
import { recordHistory } from './history.ts';

let service: TestService;
let calls: ReturnType<typeof suggesting>;
let workspace: TestWorkspace;
let articleId: string;
const model = createStandIn();

beforeAll(async () => {
  service = await startTestService();
  await service.startWorker({ suggestions: model });
});
afterAll(() => service.stop());
beforeEach(() => prepare(service));

async function prepare(using: TestService): Promise<void> {
  model.reset();
  calls = suggesting(using);
  workspace = await using.workspace(10);
  articleId = (await createArticle(using.db, workspace, await using.project(workspace))).id;
}

const workflowId = async (): Promise<string> => {
  const [operation] = await calls.operations(workspace);
  if (operation === undefined) throw new Error('there is no operation');
  return operation.workflow_id;
};

it('settle', async () => {
  await calls.forArticle(workspace, articleId);
  await recordHistory(await workflowId(), 'aiOperation/settle');
});

it('settle, after failures that passed', async () => {
  let failures = 2;
  const reply = model.reply;
  model.reply = async (request) => {
    failures -= 1;
    if (failures >= 0) throw new ProviderError('retryable', 'busy', { retryAfterMs: 20 });
    return reply(request);
  };
  await calls.forArticle(workspace, articleId);
  await recordHistory(await workflowId(), 'aiOperation/settle-after-retries');
});

it('release: nothing came back', async () => {
  model.reply = async () => ({ language: 'en', existing: [], proposed: [] });
  await calls.forArticle(workspace, articleId);
  await recordHistory(await workflowId(), 'aiOperation/release');
});

it('provider failure', async () => {
  model.reply = async () => {
    throw new ProviderError('fatal', 'The language model refused the credentials (HTTP 401).');
  };
  await calls.forArticle(workspace, articleId);
  await recordHistory(await workflowId(), 'aiOperation/provider-failure');
});

it('cancelled by an operator', async () => {
  model.reply = ({ signal }) => hang(signal);
  const answer = calls.forArticle(workspace, articleId);
  await eventually(
    async () => model.asked.length,
    (asked) => asked === 1,
  );
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  await new Client({ connection }).workflow.getHandle(await workflowId()).cancel();
  await connection.close();
  await answer;
  await recordHistory(await workflowId(), 'aiOperation/cancelled');
});

it('given up before a worker came', async () => {
  const impatient = await startTestService({ AI_WAIT_SECONDS: '2' });
  await prepare(impatient);
  await calls.forArticle(workspace, articleId);
  await impatient.startWorker({ suggestions: model });
  await recordHistory(await workflowId(), 'aiOperation/given-up');
  await impatient.stop();
});

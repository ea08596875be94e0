import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig, requireAddresses } from '../../src/config.ts';
import { type RunningService, startServer } from '../../src/processes/server.ts';
import { createArticle } from '../support/articles.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { logger, type TestWorkspace, useTestService } from '../support/service.ts';
import { type WatchedPostgres, watchStatements } from '../support/statements.ts';
import { eventually } from '../support/wait.ts';

const service = useTestService();

let ofServer: WatchedPostgres;
let ofWorker: WatchedPostgres;
let server: RunningService;
let workspace: TestWorkspace;
let receiver: Receiver;

beforeAll(async () => {
  ofServer = await watchStatements(service.config.DATABASE_URL);
  ofWorker = await watchStatements(service.config.DATABASE_URL);
  server = await startServer(
    requireAddresses(loadConfig({ ...service.env, DATABASE_URL: ofServer.url })),
    logger,
  );
});
afterAll(async () => {
  await server.stop();
  await service.stopWorkers();
  await ofServer.close();
  await ofWorker.close();
});
beforeEach(async () => {
  workspace = await service.workspace();
  receiver = await startReceiver();
  const path = `/api/workspaces/${workspace.id}/webhooks`;
  const events = ['article.published', 'article.updated'];
  await service.call(workspace.key, 'POST', path, { url: receiver.url, events });
  return () => receiver.close();
});

/**
 * What a request to the watched server costs Postgres until its event is logged: with the look-up that authenticates and the notice
 * to other processes, with the claim that finds it and not those that find nothing.
 */
async function costOf(method: string, path: string, body?: unknown) {
  const call = async () => {
    const response = await fetch(new URL(path, server.url), {
      method,
      headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
  };
  const before = receiver.received.length;
  ofServer.forget();
  ofWorker.forget();
  await call();
  await eventually(
    async () => ofWorker.count('record_attempts'),
    (count) => count > 0,
  );
  expect(receiver.received).toHaveLength(before + 1);
  const attempts = ofWorker.count('begin_attempts') + ofWorker.count('record_attempts');
  const { statements, messages, commits } = ofServer.sums();
  return {
    statements: statements + 1 + attempts,
    messages: messages + 1 + attempts,
    commits: commits + 1 + attempts,
  };
}

/**
 * The least of a few requests: every five seconds the server also writes when keys were used.
 * @param more of each
 */
async function expectLittle(request: () => ReturnType<typeof costOf>, more: number): Promise<void> {
  const costs = [await request(), await request(), await request()];
  const least = (of: keyof (typeof costs)[number]) => Math.min(...costs.map((cost) => cost[of]));
  expect(least('statements')).toBeLessThanOrEqual(9 + more);
  expect(least('messages')).toBeLessThanOrEqual(6 + more);
  expect(least('commits')).toBeLessThanOrEqual(3 + more);
}

// contract.md W126
describe.each([
  { way: 'a burst', runs: '0', more: 0 },
  { way: 'a run of its own', runs: '1000', more: 1 },
])('until its event is logged, sent by $way ($more more of each)', ({ runs, more }) => {
  beforeAll(async () => {
    await service.startWorker({}, { DATABASE_URL: ofWorker.url, WEBHOOK_RUNS_PER_SECOND: runs });
  });
  afterAll(() => service.stopWorkers());

  it('publishing costs nine statements at most, in six messages and three commits', async () => {
    const projectId = await service.project(workspace);
    const articles = await Promise.all(
      [1, 2, 3, 4].map(() => createArticle(service.db, workspace, projectId, { status: 'APPROVED' })),
    );
    const publish = () => costOf('POST', `/api/articles/${articles.pop()?.id}/publish`);
    // The first one opens connections.
    await publish();
    await expectLittle(publish, more);
  });

  it('replacing the categories of a published article costs no more', async () => {
    const projectId = await service.project(workspace);
    const { id } = await createArticle(service.db, workspace, projectId, { status: 'PUBLISHED' });
    const categories: string[] = [];
    for (const name of ['A', 'B']) {
      const { body } = await service.call(
        workspace.key,
        'POST',
        `/api/workspaces/${workspace.id}/categories`,
        {
          primaryLanguage: 'en',
          translations: [{ language: 'en', name }],
        },
      );
      categories.push(body.category.id);
    }
    let count = 0;
    const replace = () => {
      count += 1;
      return costOf('PUT', `/api/articles/${id}/categories`, { categoryIds: categories.slice(count % 2) });
    };
    await replace();
    await expectLittle(replace, more);
  });
});

import { Worker } from '@temporalio/worker';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import { installRuntime } from '../../src/temporal/runtime.ts';
import { TRACE_HEADER } from '../../src/temporal/trace-header.ts';
import { publishMany } from '../categories/support.ts';
import { createArticle } from '../support/articles.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../support/collector.ts';
import { useDataFolder } from '../support/data-folder.ts';
import { config } from '../support/generating.ts';
import { hastenRetries } from '../support/hasten.ts';
import { startImageModel } from '../support/image-model.ts';
import { type CarelessModel, startCarelessModel } from '../support/model/careless-model.ts';
import { type ServiceProcess, startProcess } from '../support/processes.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type Answer, logger, type TestWorkspace, useTestService } from '../support/service.ts';
import { connectOperator, type Operator, reconcileNow } from '../support/temporal.ts';
import { eventually } from '../support/wait.ts';

/** What no collector may see: it stands wherever a customer, a receiver or an operator can put a text or a secret. */
const PLANTED = 'PLANTED7e1f';

const folder = useDataFolder();
const service = useTestService({ DATA_DIR: folder });
let collector: Collector;
let model: CarelessModel;
let images: Awaited<ReturnType<typeof startImageModel>>;
let receiver: Receiver;
let operator: Operator;
let env: Record<string, string>;
let server: ServiceProcess;
let worker: ServiceProcess;
let url: string;

beforeAll(async () => {
  collector = await startCollector();
  model = await startCarelessModel();
  images = await startImageModel(1);
  receiver = await startReceiver();
  receiver.words = `${PLANTED} of the receiver`;
  operator = await connectOperator();
  env = {
    ...service.env,
    ...images.env,
    TRANSLATION_PROVIDER: 'openai-compatible',
    GENERATION_PROVIDER: 'openai-compatible',
    AI_BASE_URL: model.url,
    AI_MODEL: 'stand-in',
    AI_API_KEY: `${PLANTED}-model-key`,
    WEB_RESEARCH: 'true',
    SEARCH_PROVIDER: 'pseudo',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    WEBHOOK_TRACEPARENT: 'true',
    PORT: '0',
  };
  [server, worker] = await Promise.all([startProcess('server.ts', env), startProcess('worker.ts', env)]);
  url = urlOf(server);
});
afterAll(async () => {
  server?.kill('SIGTERM');
  worker?.kill('SIGTERM');
  await Promise.all([server?.ended, worker?.ended]);
  await Promise.all([collector, model, images, receiver, operator].map((each) => each?.close()));
});

const urlOf = (process: ServiceProcess): string => /listening on (http:[^"]+)/.exec(process.log())?.[1] ?? '';

/** A request with planted texts in all of its own: its id, its query, its traceparent is the caller's. */
async function call(
  { key }: Pick<TestWorkspace, 'key'>,
  method: string,
  path: string,
  body?: unknown,
  { to = url, headers = {} }: { to?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await fetch(new URL(`${path}?${PLANTED}=${PLANTED}`, to), {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'x-request-id': `${PLANTED}-request`,
      'user-agent': `${PLANTED}-agent`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** A workspace whose endpoint has planted texts, and a project. */
async function setUp(...events: string[]) {
  const workspace = await service.workspace();
  const path = `/api/workspaces/${workspace.id}/webhooks`;
  const registered = await call(workspace, 'POST', path, {
    url: `${receiver.origin}/${PLANTED}/${workspace.id}?key=${PLANTED}`,
    description: PLANTED,
    events,
  });
  expect(registered.status, JSON.stringify(registered.body)).toBe(201);
  const { endpoint, secret } = registered.body;
  const settings = { description: PLANTED, rateLimit: null, headers: { 'x-planted': PLANTED } };
  const set = await call(workspace, 'PUT', `${path}/${endpoint.id}/settings`, settings);
  expect(set.status, JSON.stringify(set.body)).toBe(200);
  secrets.push(workspace.key, secret);
  return { workspace, endpointId: String(endpoint.id), projectId: await service.project(workspace) };
}
const secrets: string[] = [];

const traceOf = (
  workspace: TestWorkspace,
  name: string,
  isComplete: (spans: readonly ReceivedSpan[]) => boolean,
) =>
  collector.trace(
    (span) => span.name === name && span.attributes['workspace.id'] === workspace.id,
    isComplete,
  );
const attemptsIn = (spans: readonly ReceivedSpan[]) => spans.filter(({ name }) => name === 'webhook attempt');
const names = (spans: readonly ReceivedSpan[]): Set<string> => new Set(spans.map(({ name }) => name));

/** One span is the first; every other has its parent in the same trace. */
function expectOneTree(spans: readonly ReceivedSpan[]): void {
  const ids = new Set(spans.map(({ id }) => id));
  expect(spans.filter(({ parent }) => !ids.has(parent)).map(({ parent }) => parent)).toEqual(['']);
}

const kept = (workspace: TestWorkspace) =>
  service.db
    .selectFrom('events')
    .select(['type', 'traceparent'])
    .where('workspace_id', '=', workspace.id)
    .execute();

// contract.md O2
it('one trace leads from the request over the run, its activities, models and searches to each attempt', async () => {
  const { workspace, projectId, endpointId } = await setUp('article.created', 'article.generation.completed');
  const answer = await call(workspace, 'POST', `/api/projects/${projectId}/articles/generate`, {
    title: PLANTED,
    generationConfig: { ...config, topic: `A garden in spring ${PLANTED}`, researchEnabled: true },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  const spans = await traceOf(
    workspace,
    'POST /api/projects/{projectId}/articles/generate',
    (found) => attemptsIn(found).length === 2,
  );
  expectOneTree(spans);
  const expected = [
    'StartWorkflow:generateArticle',
    'RunActivity:reserve',
    'chat stand-in',
    'search pseudo',
    'draw stand-in',
    'first byte',
  ];
  expect([...names(spans)]).toEqual(expect.arrayContaining(expected));
  // Whichever of the two attempts made the connection.
  expect([...names(collector.spans)]).toEqual(expect.arrayContaining(['dns', 'connect']));
  expect(attemptsIn(spans).map(({ attributes }) => attributes)).toEqual(
    ['article.created', 'article.generation.completed'].map((type) =>
      expect.objectContaining({
        'server.address': '127.0.0.1',
        'webhook.event_type': type,
        'webhook.endpoint_id': endpointId,
        'webhook.attempt': 1,
        'webhook.verdict': 'succeeded',
        'http.response.status_code': 204,
      }),
    ),
  );
  const got = receiver.received.filter(({ path }) => path.includes(workspace.id));
  expect(got.map(({ headers }) => headers.traceparent).sort()).toEqual(
    attemptsIn(spans)
      .map(({ traceId, id }) => `00-${traceId}-${id}-01`)
      .sort(),
  );
  const line = server
    .log()
    .split('\n')
    .find((text) => text.includes('/articles/generate"'));
  expect(JSON.parse(line ?? '{}').traceId).toBe(spans[0]?.traceId);
  // With the header in it as without: the other histories were recorded untraced.
  const run = spans.find(({ name }) => name === 'StartWorkflow:generateArticle');
  const workflowId = String(run?.attributes['temporal.workflow_id']);
  const history = await operator.client.workflow.getHandle(workflowId).fetchHistory();
  expect(JSON.stringify(history)).toContain(TRACE_HEADER);
  installRuntime(logger);
  await Worker.runReplayHistory(
    { workflowBundle: { codePath: inject('workflowBundlePath') } },
    history,
    workflowId,
  );
});

// contract.md O2
it('a translation has its engine in the trace, and a run that reconcile starts later belongs to its request', async () => {
  const { workspace, projectId } = await setUp('article.created');
  const article = await createArticle(service.db, workspace, projectId, { title: `A garden ${PLANTED}` });
  // A server that does not reach Temporal: the job is committed, and nobody starts its run.
  const cutOff = await startProcess('server.ts', { ...env, TEMPORAL_ADDRESS: '127.0.0.1:1' });
  const answer = await call(
    workspace,
    'POST',
    `/api/articles/${article.id}/translations`,
    { language: 'es' },
    { to: urlOf(cutOff) },
  );
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  cutOff.kill('SIGTERM');
  const isSettled = (spans: readonly ReceivedSpan[]) => names(spans).has('RunActivity:settle');
  const found = traceOf(workspace, 'POST /api/articles/{articleId}/translations', isSettled);
  const { TEMPORAL_TASK_QUEUE_PREFIX: prefix } = service.config;
  await eventually(
    async () => {
      const { status } = await service.db
        .selectFrom('jobs')
        .select('status')
        .where('id', '=', answer.body.job.id as JobId)
        .executeTakeFirstOrThrow();
      if (status === 'QUEUED') await reconcileNow(operator.client, prefix, 'jobs');
      return status;
    },
    (status) => status === 'COMPLETED',
  );
  const spans = await found;
  expectOneTree(spans);
  const expected = ['StartWorkflow:translateArticle', 'translate openai-compatible', 'chat stand-in'];
  expect([...names(spans)]).toEqual(expect.arrayContaining(expected));
});

// contract.md O2
it('each attempt is a span of the same trace, also those after a refusal', async () => {
  const { workspace, projectId } = await setUp('article.created');
  let refusals = 2;
  receiver.answer = ({ path }) => (path.includes(workspace.id) && refusals-- > 0 ? 500 : 204);
  const answer = await call(workspace, 'POST', `/api/projects/${projectId}/articles`, { title: PLANTED });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const spans = await traceOf(workspace, 'POST /api/projects/{projectId}/articles', (found) => {
    void hastenRetries(service.db, operator);
    return attemptsIn(found).length === 3;
  });
  expectOneTree(spans);
  expect(
    attemptsIn(spans).map(({ failed, attributes }) => [
      attributes['webhook.attempt'],
      attributes['webhook.verdict'],
      attributes['http.response.status_code'],
      failed,
    ]),
  ).toEqual([
    [1, 'retry', 500, true],
    [2, 'retry', 500, true],
    [3, 'succeeded', 204, false],
  ]);
});

// contract.md O2
it('events of a list that relays expand, and their attempts in bursts, belong to the request that made the list', async () => {
  const { workspace, projectId } = await setUp('article.updated');
  const path = `/api/workspaces/${workspace.id}/categories`;
  const created = await call(workspace, 'POST', path, {
    primaryLanguage: 'en',
    translations: [{ language: 'en', name: PLANTED }],
  });
  const { id } = created.body.category;
  const carriers = await publishMany(service.db, workspace, projectId, id, 1_001);
  const renamed = await call(workspace, 'PATCH', `${path}/${id}`, {
    translations: [{ language: 'en', name: `${PLANTED} anew` }],
  });
  expect(renamed.status, JSON.stringify(renamed.body)).toBe(200);
  const name = 'PATCH /api/workspaces/{workspaceId}/categories/{categoryId}';
  const spans = await traceOf(workspace, name, (found) => attemptsIn(found).length >= 500);
  expect(new Set(attemptsIn(spans).map(({ attributes }) => attributes['webhook.verdict']))).toEqual(
    new Set(['succeeded']),
  );
  const first = spans.find((span) => span.name === name);
  const rows = await eventually(
    () => kept(workspace),
    (events) => events.length === carriers.length,
  );
  expect(new Set(rows.map(({ traceparent }) => traceparent))).toEqual(
    new Set([`00-${first?.traceId}-${first?.id}-01`]),
  );
});

// contract.md O7
it("a caller's traceparent is linked and not continued, and requests without a known key have no span", async () => {
  const { workspace } = await setUp('article.created');
  const theirs = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
  const headers = { traceparent: `00-${theirs}-bbbbbbbbbbbbbbbb-01`, tracestate: `x=${PLANTED}` };
  await call({ key: 'wcsk_unknown' }, 'GET', '/api/whoami', undefined, { headers });
  await call({ key: workspace.key }, 'GET', `/api/${PLANTED}`, undefined, { headers });
  await call(workspace, 'GET', '/api/whoami', undefined, { headers });
  const [span, ...others] = await traceOf(workspace, 'GET /api/whoami', (found) => found.length > 0);
  expect(others).toEqual([]);
  expect(span?.traceId).not.toBe(theirs);
  expect(span?.links).toEqual([theirs]);
  const ofRequests = collector.spans.filter(({ attributes }) => 'http.route' in attributes);
  expect(ofRequests.every(({ attributes }) => attributes['workspace.id'] !== undefined)).toBe(true);
  expect(ofRequests.filter(({ attributes }) => attributes['http.response.status_code'] === 401)).toEqual([]);
});

// contract.md O3
it('nothing that was sent holds a text, a key, a secret, a path or a query; what is left at the end is sent', async () => {
  const { workspace, projectId } = await setUp('article.created');
  const before = collector.spans.length;
  const answer = await call(workspace, 'POST', `/api/projects/${projectId}/articles`, { title: PLANTED });
  expect(answer.status).toBe(201);
  // Sooner than the next batch would go out.
  server.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  worker.kill('SIGTERM');
  expect(await worker.ended).toBe(0);
  expect([...names(collector.spans.slice(before))]).toContain('POST /api/projects/{projectId}/articles');
  const bytes = collector.bytes();
  expect(bytes.length).toBeGreaterThan(10_000);
  const seen = [PLANTED, ...secrets].filter((text) => bytes.includes(text));
  expect(seen).toEqual([]);
  // The search would find them: what is looked for stands in the tables, and in what receivers and models got.
  expect(secrets.length).toBeGreaterThan(6);
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM events WHERE convert_from(body, 'UTF8') LIKE ${`%${PLANTED}%`}`.execute(
    service.db,
  );
  expect(rows[0]?.count).toBeGreaterThan(2);
  expect(
    model.requests.some(
      ({ body, headers }) => body.includes(PLANTED) && headers.authorization?.includes(PLANTED),
    ),
  ).toBe(true);
});

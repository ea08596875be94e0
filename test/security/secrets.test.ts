import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { generateKey } from '../../src/api-keys/key-format.ts';
import { type RunningService, startServer } from '../../src/processes/server.ts';
import { type RunningWorker, startWorker } from '../../src/processes/worker.ts';
import { createArticle, SHORT_DOCUMENT } from '../support/articles.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { type Evidence, findSecrets, readRuns, readTables } from './support/evidence.ts';

const service = useTestService();

let server: RunningService;
let worker: RunningWorker;
let workspace: TestWorkspace;
let healthy: Receiver;
let failing: Receiver;

/** Lines of server and worker, on every level and without any redaction of fields. */
const log: Evidence[] = [];
const logger = pino(
  { level: 'trace', serializers: { err: pino.stdSerializers.err } },
  { write: (text: string) => void log.push({ where: 'log', text }) },
);
const answers: Evidence[] = [];
/** What the answers that may show a secret showed. */
const secrets: string[] = [];

beforeAll(async () => {
  server = await startServer(service.config, logger);
  worker = await startWorker(service.config, logger);
  workspace = await service.workspace();
  secrets.push(workspace.key);
  healthy = await startReceiver();
  failing = await startReceiver();
});
afterAll(async () => {
  await worker.stop();
  await healthy.close();
  await failing.close();
});

/** Sends a request and keeps its answer; a secret that it may show this once is taken out before. */
async function call(
  method: string,
  path: string,
  options: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
): Promise<any> {
  const { key = workspace.key, body, headers = {} } = options;
  const response = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const { key: newKey, secret, ...rest } = isJson && text !== '' ? JSON.parse(text) : {};
  const shown = [newKey, secret].filter((value) => typeof value === 'string');
  secrets.push(...shown);
  const kept = shown.length > 0 ? JSON.stringify(rest) : text;
  answers.push({
    where: `${response.status} ${method} ${path}`,
    text: JSON.stringify([kept, [...response.headers]]),
  });
  return { status: response.status, key: newKey, secret, ...rest };
}

const inWorkspace = (path: string): string => `/api/workspaces/${workspace.id}${path}`;

/** Makes, uses, rotates and ends keys. */
async function useKeys(): Promise<void> {
  const body = { label: 'Site', roleId: workspace.roles.admin };
  const made = await call('POST', inWorkspace('/api-keys'), { body });
  const rotated = await call('POST', inWorkspace(`/api-keys/${made.apiKey.id}/rotate`), { key: made.key });
  await call('GET', inWorkspace('/roles'), { key: rotated.key });
  await call('DELETE', inWorkspace(`/api-keys/${rotated.apiKey.id}`));
  for (const key of [made.key, rotated.key])
    expect((await call('GET', '/api/whoami', { key })).status).toBe(401);
  await call('POST', inWorkspace('/api-keys'), { body: { ...body, expiresAt: '2020-01-01T00:00:00Z' } });
}

/** Puts live keys and secrets where they do not belong, as people do; whatever comes of it, they stay unseen. */
async function misplace(secret: string): Promise<void> {
  await call('GET', '/api/whoami', { key: `${secret}x` });
  await call('GET', '/api/whoami', { headers: { authorization: secret } });
  await call('GET', '/api/whoami', { headers: { authorization: `Basic ${btoa(secret)}` } });
  await call('GET', '/api/whoami', { headers: { 'x-request-id': secret, 'x-forwarded-for': secret } });
  await call('GET', `/api/workspaces/${secret}/api-keys`);
  await call('DELETE', inWorkspace(`/api-keys/${secret}`));
  await call('GET', `/${secret}`);
  await call('GET', inWorkspace(`/webhooks?deliveryStatus=${secret}`));
  await call('GET', inWorkspace(`/audit?cursor=${secret}&limit=${secret}`));
  await call('POST', inWorkspace('/api-keys'), { body: { label: 7, roleId: secret, expiresAt: secret } });
  await call('POST', inWorkspace('/api-keys'), { body: `{"label": ${secret}` });
  await call('POST', inWorkspace('/api-keys'), { body: `{"\\u0000": "${secret}"}` });
  await call('POST', inWorkspace('/roles'), { body: { name: 'x', permissions: [secret] } });
  await call('POST', inWorkspace('/webhooks'), { body: { url: `ftp://${secret}`, events: [secret] } });
  await call('POST', inWorkspace('/webhooks'), {
    body: { url: `https://u:${secret}@127.0.0.1/`, events: [] },
  });
  await call('PATCH', inWorkspace('/categories/x'), { body: { primaryLanguage: secret } });
  await call('GET', `/docs/errors/${secret}`);
}

/** A receiver that answers and one that does not, an article for both of them, and everything one can ask then. */
async function deliver(): Promise<void> {
  const events = ['article.created'];
  const good = await call('POST', inWorkspace('/webhooks'), { body: { url: healthy.url, events } });
  const bad = await call('POST', inWorkspace('/webhooks'), { body: { url: failing.url, events } });
  failing.answer = () => 500;
  const source = await createArticle(service.db, workspace, await service.project(workspace), {
    document: SHORT_DOCUMENT,
  });
  const path = `/api/articles/${source.id}/translations`;
  const { job } = await call('POST', path, { body: { language: 'es' } });
  await eventually(
    async () => (await call('GET', `/api/jobs/${job.id}`)).job,
    ({ status }) => status === 'COMPLETED',
  );
  const { deliveries } = await eventually(
    () => call('GET', inWorkspace('/webhooks')),
    (listed) => listed.deliveries.every(({ attempts }: { attempts: number }) => attempts > 0),
  );
  expect(deliveries).toHaveLength(2);
  for (const { id } of deliveries) await call('GET', inWorkspace(`/webhooks/deliveries/${id}`));
  await call('POST', inWorkspace(`/webhooks/${good.endpoint.id}/test`));
  await call('POST', inWorkspace(`/webhooks/${bad.endpoint.id}/test`));
  await call('POST', `/api/articles/${source.id}/categories/suggest`);
  for (const { raw } of [...healthy.received, ...failing.received]) {
    answers.push({ where: 'event', text: raw.toString() });
  }
  await call('DELETE', inWorkspace(`/webhooks/${bad.endpoint.id}`));
}

// contract.md K15
test('no answer, log line, row, audit entry, event or workflow history holds a key, its hash or a webhook secret', async () => {
  await useKeys();
  await deliver();
  for (const secret of [...secrets]) await misplace(secret);
  for (const path of ['/api-keys', '/webhooks', '/audit?limit=100']) await call('GET', inWorkspace(path));
  answers.push({ where: 'metrics', text: await (await fetch(server.metricsUrl)).text() });
  await server.stop();

  const rows = await readTables(service.db);
  const runs = await readRuns(inject('temporalAddress'), service.config.TEMPORAL_TASK_QUEUE_PREFIX);
  expect(findSecrets([...answers, ...log, ...rows, ...runs], secrets)).toEqual([]);

  // The search itself is worth something only if it finds what is there.
  const names = (evidence: readonly Evidence[]) => evidence.map(({ where }) => where).join('\n');
  expect(secrets.length).toBeGreaterThan(5);
  expect(names(runs)).toMatch(/translation-/);
  expect(names(runs)).toMatch(/webhook-delivery-/);
  expect(names(rows)).toMatch(/audit_entries/);
  expect(log.map(({ text }) => text).join('\n')).toContain('"route":"/api/jobs/{jobId}"');
  for (const { text } of runs.filter(({ where }) => /translation-.*history/.test(where))) {
    expect(text).toContain(workspace.id);
  }
});

test('the search finds a secret in whatever form it is written', () => {
  const { key, hash } = generateKey();
  const hidden = [
    key,
    key.slice(5),
    btoa(key),
    hash.toString('hex').toUpperCase(),
    hash.toString('base64'),
    JSON.stringify(hash),
  ];
  for (const text of hidden)
    expect(findSecrets([{ where: 'here', text: `x${text}y` }], [key])).toEqual(['here']);
  expect(findSecrets([{ where: 'here', text: key.slice(0, 16) }], [key])).toEqual([]);
});

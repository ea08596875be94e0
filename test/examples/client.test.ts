import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { type Call, createClient, isEvent } from '../../examples/client/client.ts';
import { generate, type OpenApi } from '../../examples/client/generate.ts';
import { walk } from '../../examples/client/main.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';

const service = useTestService();

const run = promisify(execFile);
const example = (name: string): string =>
  fileURLToPath(new URL(`../../examples/client/${name}`, import.meta.url));

let workspace: TestWorkspace;

beforeAll(async () => {
  await service.startWorker();
  workspace = await service.workspace();
});

test('the types of the client are those of the service as it is now: after a change, run its generate.ts', async () => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi;
  expect(readFileSync(example('api.ts'), 'utf8')).toBe(generate(document));
});

test('the typed client lists keys, asks a price, translates once for two requests, and verifies the webhook', async () => {
  const said: string[] = [];
  const call = createClient({ baseUrl: service.url, apiKey: workspace.key });
  const article = await walk(call, (line) => said.push(line));
  expect(article).toMatchObject({ status: 'NEEDS_REVIEW', primaryLanguage: 'es', workspaceId: workspace.id });
  expect(article.documentJson.blocks.map(({ id, type }) => [id, type])).toEqual([
    ['first', 'heading'],
    ['second', 'paragraph'],
  ]);
  expect(said).toEqual([
    expect.stringMatching(/^key wcsk_\w{11}… /),
    '10 words cost 1 credit(s), covered',
    expect.stringMatching(/^job [\w-]{36}; requested again: the same job$/),
    expect.stringMatching(/^NEEDS_REVIEW in es: \S/),
    `verified webhook article.created of article ${article.id}`,
    'a second Spanish version is refused: CONFLICT, see /docs/errors/conflict',
  ]);
  const { wallet } = (await call('readWallet', { params: { workspaceId: workspace.id } })).body;
  expect(wallet).toEqual({ balance: 999, reserved: 0, available: 999 });
});

test('a call that the service does not know does not compile', () => {
  const wrong = (call: Call) => [
    // @ts-expect-error There is no such call.
    () => call('readArticles', {}),
    // @ts-expect-error The path needs an id.
    () => call('readJob', { params: {} }),
    // @ts-expect-error There is no such status.
    () => call('listWebhooks', { params: { workspaceId: '' }, query: { deliveryStatus: 'lost' } }),
    // @ts-expect-error A job has no such field.
    async () => (await call('readJob', { params: { jobId: '' } })).body.job.state,
  ];
  expect(wrong).toBeTypeOf('function');
});

test('it runs as a program, prints what its page says, and a refusal is an error that names its code', async () => {
  const env = { ...process.env, API: service.url, KEY: workspace.key };
  const { stdout } = await run(process.execPath, [example('main.ts')], { env });
  const page = readFileSync(example('../README.md'), 'utf8');
  const [, printed = ''] = /^```text\n(.*?)^```$/ms.exec(page) ?? [];
  const lines = printed
    .trimEnd()
    .split('\n')
    .map((line) => RegExp.escape(line).replaceAll('…', '.+'));
  expect(stdout).toMatch(new RegExp(`^${lines.join('\n')}\n$`));
  await expect(
    run(process.execPath, [example('main.ts')], { env: { ...env, KEY: 'wcsk_no' } }),
  ).rejects.toThrow('401 UNAUTHENTICATED');
});

test('a verified webhook has the fields of its event, and a name that no event has does not compile', () => {
  const read = (webhook: { event: string; data: Record<string, unknown> }): string[] => {
    // @ts-expect-error There is no such event.
    if (isEvent(webhook, 'article.moved')) return [];
    if (isEvent(webhook, 'article.updated')) return webhook.data.changed;
    // @ts-expect-error The event has no such field.
    if (isEvent(webhook, 'article.created')) return [webhook.data.changed];
    return [];
  };
  expect(read({ event: 'article.updated', data: { changed: ['title'] } })).toEqual(['title']);
  expect(read({ event: 'unheard.of', data: {} })).toEqual([]);
});

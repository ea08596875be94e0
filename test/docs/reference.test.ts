import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { shellVariable } from '../../src/reference/curl.ts';
import { type Call, callsByArea, errorsOf, type OpenApiDocument } from '../../src/reference/document.ts';
import { startReceiver } from '../support/receiver.ts';
import { useTestService } from '../support/service.ts';

const service = useTestService();

const run = promisify(execFile);

let page: Response;
let html: string;
let document: OpenApiDocument;
let calls: Call[];

beforeAll(async () => {
  page = await fetch(`${service.url}/docs`);
  html = await page.text();
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
  calls = callsByArea(document).flatMap((area) => area.calls);
});

const unescapeHtml = (escaped: string): string =>
  escaped
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The part of the page that belongs to a call. */
function sectionOf({ operation }: Call): string {
  const start = html.indexOf(`<section class="call" id="${operation.operationId}"`);
  expect(start, operation.operationId).toBeGreaterThan(0);
  return html.slice(start, html.indexOf('</section>', start));
}

const curlOf = (call: Call): string =>
  unescapeHtml(
    /aria-label="Request as a curl command"><code>(.*?)<\/code>/s.exec(sectionOf(call))?.[1] ?? '',
  );

/** The blocks of JSON of a call, in their order, as values. */
const examplesOf = (call: Call): unknown[] =>
  [...sectionOf(call).matchAll(/aria-label="Example of response \d+"><code>(.*?)<\/code>/gs)].map(
    ([, block = '']) => JSON.parse(unescapeHtml(block.replaceAll(/<[^>]+>/g, ''))),
  );

test('every call is there with its method, path, permissions, the example of each answer and each of its errors', () => {
  expect(calls.length).toBe(Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length);
  for (const call of calls) {
    const section = sectionOf(call);
    const { path, method, operation } = call;
    expect(section).toContain(`>${method}</span> <code>${path}</code>`);
    for (const permission of operation['x-permissions'] ?? []) {
      expect(section, operation.operationId).toContain(`<code>${permission}</code>`);
    }
    for (const { name } of operation.parameters ?? []) expect(section).toContain(`<code>${name}</code>`);
    const documented = Object.entries(operation.responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([, { content }]) => content?.['application/json']?.example)
      .reverse();
    expect(examplesOf(call), operation.operationId).toEqual(documented);
    expect(errorsOf(operation).length).toBeGreaterThan(3);
    for (const { code } of errorsOf(operation)) {
      const path = `/docs/errors/${code.toLowerCase().replaceAll('_', '-')}`;
      expect(section, operation.operationId).toContain(`<a href="${path}">${code}</a>`);
      expect(section).toContain(`href="#error-${code}"`);
    }
  }
});

test('the address of the service leads to its page', async () => {
  const { status, headers } = await fetch(`${service.url}/`, { redirect: 'manual' });
  expect([status, headers.get('location')]).toEqual([302, '/docs']);
});

test('every link of the page leads somewhere, and every call, event, error and shape is in its contents', async () => {
  const ids = new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));
  const links = new Set([...html.matchAll(/href="([^"]+)"/g)].map(([, link = '']) => link));
  for (const link of links) {
    if (link.startsWith('#')) expect(ids, link).toContain(link.slice(1));
    else if (link !== 'data:,') expect((await fetch(service.url + link)).status, link).toBe(200);
  }
  const contents = html.slice(html.indexOf('<nav'), html.indexOf('</nav>'));
  for (const { operation } of calls) expect(contents).toContain(`href="#${operation.operationId}"`);
  for (const name of Object.keys(document.components.schemas)) {
    expect(contents).toContain(`href="#schema-${name}"`);
  }
});

test('every curl example, run in a shell, makes exactly the request that is documented', async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const API = receiver.origin;

  for (const call of calls) {
    const { method, path, operation } = call;
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const variables = Object.fromEntries(names.map((name) => [shellVariable(name), `id-of-${name}`]));
    const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
    // What an upload sends is the reader's own file.
    const command =
      media !== undefined && media.example === undefined
        ? curlOf(call).replace(/@\S+$/, '@/dev/null')
        : curlOf(call);
    await run('bash', ['-euc', command], {
      env: { PATH: process.env.PATH, API, KEY: 'wcsk_key', ...variables },
    });

    const request = receiver.received.pop() ?? expect.fail(`${operation.operationId} sent nothing`);
    const url = new URL(request.path, API);
    expect([request.method, url.pathname]).toEqual([
      method,
      path.replaceAll(/\{(\w+)\}/g, (_match, name) => `id-of-${name}`),
    ]);
    expect(request.headers.authorization).toBe('Bearer wcsk_key');
    const needed = (operation.parameters ?? []).filter((one) => one.in === 'query' && one.required === true);
    expect([...url.searchParams.keys()], operation.operationId).toEqual(needed.map(({ name }) => name));
    expect(request.headers['content-type'], operation.operationId).toBe(type);
    if (media?.example !== undefined) expect(request.body).toEqual(media.example);
  }
});

test('the page loads nothing, and nothing runs on it but the one script that its policy names', async () => {
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script = '']) => script);
  expect(scripts).toHaveLength(1);
  expect(html.match(/<script/g)).toHaveLength(1);
  expect(html).not.toMatch(/\ssrc=|href="http|@import|url\(|\son\w+=/);
  const hash = createHash('sha256').update(scripts.join('')).digest('base64');
  expect(page.headers.get('content-security-policy')).toContain(
    `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'`,
  );
});

test('the type of a problem is the address of the page that explains it, with an example', async () => {
  const { body } = await service.call('wcsk_nonsense', 'GET', '/api/whoami');
  const explained = await fetch(service.url + body.type);
  expect(explained.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const text = await explained.text();
  expect(text).toContain(body.code);
  expect(text).toContain('href="/docs"');
  expect(text).toContain('Example of UNAUTHENTICATED');
});

test('no field of an answer is described as nothing at all', () => {
  const undescribed: string[] = [];
  const look = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      const isField = path.endsWith('/properties') || name === 'items';
      if (isField && Object.keys(inner as object).length === 0) undescribed.push(`${path}/${name}`);
      look(inner, `${path}/${name}`);
    }
  };
  look(document.components.schemas, '');
  for (const { operation } of calls) {
    for (const { content } of Object.values(operation.responses)) {
      look(content?.['application/json']?.schema, operation.operationId);
    }
  }
  expect(undescribed).toEqual([]);
});

import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseNetworks } from '../../src/networks.ts';
import { createAddressGuard } from '../../src/outbound/resolver.ts';
import type { ImageModel, ImageRequest } from '../../src/providers/image-model.ts';
import { createOpenAiCompatibleImageModel } from '../../src/providers/images/openai-compatible.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { breakOff, drip, type EngineServer, silence, startEngineServer } from '../support/engine-server.ts';
import { startDnsServer } from '../webhooks/sending/support/dns-server.ts';

const KEY = 'sk-very-secret-key-1234567890';
const MEBIBYTE = 1024 * 1024;
const png = await sharp({ create: { width: 4, height: 2, channels: 3, background: '#a33' } })
  .png()
  .toBuffer();
const inBase64 = (bytes: Uint8Array = png) => ({
  body: { created: 1, data: [{ b64_json: Buffer.from(bytes).toString('base64') }] },
});
const byUrl = (...urls: string[]) => ({ body: { data: urls.map((url) => ({ url })) } });
const sending = (bytes: Uint8Array) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'image/png' }).end(bytes);
};

let server: EngineServer;
let model: ImageModel;
const closing: { close(): Promise<unknown> }[] = [];
beforeEach(async () => {
  server = await startEngineServer(() => inBase64());
  closing.push(server);
  model = modelAt();
});
afterEach(async () => {
  for (const each of closing.splice(0)) await each.close();
});

const modelAt = (options: Partial<Parameters<typeof createOpenAiCompatibleImageModel>[0]> = {}) =>
  createOpenAiCompatibleImageModel({
    baseUrl: `${server.url}/v1`,
    models: { standard: 'quick', hd: 'fine' },
    apiKey: KEY,
    timeoutMs: 5_000,
    ...options,
  });
const request = (changes: Partial<ImageRequest> = {}): ImageRequest => ({
  prompt: 'A gardener at a rain barrel.',
  style: 'watercolor',
  role: 'hero',
  quality: 'standard',
  seed: 7,
  signal: new AbortController().signal,
  ...changes,
});
const failure = async (drawn: Promise<unknown> = model.draw(request())): Promise<ProviderError> => {
  const error = await drawn.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProviderError);
  expect(inspect(error, { depth: 10, maxStringLength: null })).not.toMatch(new RegExp(`${KEY}|AAAAAAAA`));
  return error as ProviderError;
};
/** Another server on loopback, which stands for any address in a private network. */
const another = async (answer: EngineServer['answer']) => {
  const other = await startEngineServer(answer);
  closing.push(other);
  return other;
};

describe('a call of the image model', () => {
  // contract.md G93
  it('asks for one image of one size, by the model of the quality, and for nothing that servers do not know', async () => {
    expect(Buffer.from(await model.draw(request())).equals(png)).toBe(true);
    await model.draw(request({ quality: 'hd', role: 'inline' }));
    expect(server.requests).toHaveLength(2);
    const [first, second] = server.requests.map(({ body }) => JSON.parse(body));
    expect(first).toEqual({ model: 'quick', prompt: expect.any(String), n: 1, size: '1536x864' });
    expect(first.prompt).toMatch(
      /^A gardener at a rain barrel\.\nA watercolour painting.*\n.*cover.*\nNo text/,
    );
    expect(second.model).toBe('fine');
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/v1/images/generations' });
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect([model.modelOf('standard'), model.modelOf('hd')]).toEqual(['quick', 'fine']);
  });

  it.each([
    ['gpt-image-2', { size: '1536x864', quality: 'medium' }],
    ['gpt-image-1', { size: '1536x1024', quality: 'medium' }],
    ['gpt-image-1-mini', { size: '1536x1024', quality: 'medium' }],
    ['dall-e-3', { size: '1792x1024' }],
    ['flux', { size: '1536x864' }],
  ])('asks %s for what it has', async (name, rest) => {
    await modelAt({ models: { standard: name, hd: name } }).draw(request());
    const { prompt: _, n: __, ...sent } = JSON.parse(server.requests[0]?.body ?? '');
    expect(sent).toEqual({ model: name, ...rest });
  });

  it('names hd to a model that knows qualities', async () => {
    await modelAt({ models: { standard: 'gpt-image-2', hd: 'gpt-image-2' } }).draw(
      request({ quality: 'hd' }),
    );
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ quality: 'high' });
  });

  // contract.md G93
  it.each([
    ['an empty list', { body: { data: [] } }, 'refused'],
    ['a filtered slot', { body: { data: [null] } }, 'refused'],
    ['a slot with nothing in it', { body: { data: [{ revised_prompt: 'x' }] } }, 'refused'],
    [
      'a policy error',
      { status: 400, body: { error: { code: 'content_policy_violation', message: 'no' } } },
      'refused',
    ],
    [
      'moderation',
      { status: 400, body: { error: { code: 'moderation_blocked', message: 'no' } } },
      'refused',
    ],
    ['text as base64', inBase64(Buffer.from('hello world')), 'unusable'],
    ['an SVG', inBase64(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')), 'unusable'],
    ['no base64', { body: { data: [{ b64_json: '%%%' }] } }, 'unusable'],
    ['no JSON', { body: '{"data":' }, 'unusable'],
    ['a page', { body: '<html>Welcome</html>' }, 'unusable'],
    ['another JSON', { body: { images: ['A'.repeat(1_000)] } }, 'unusable'],
    [
      'a wrong key',
      { status: 401, body: { error: { code: 'invalid_api_key', message: KEY } } },
      'misconfigured',
    ],
    ['no permission', { status: 403, body: { error: { message: KEY } } }, 'misconfigured'],
    ['no such model', { status: 404, body: {} }, 'misconfigured'],
    ['no money', { status: 429, body: { error: { code: 'insufficient_quota' } } }, 'misconfigured'],
    ['a request that is refused', { status: 400, body: { error: { code: 'invalid_value' } } }, 'fatal'],
    ['an outage', { status: 500, body: 'oops' }, 'retryable'],
    ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' }, body: '' }, 'retryable'],
  ] as const)('takes %s as what it is, with one request', async (_what, answer, kind) => {
    server.answer = () => answer;
    expect(await failure()).toMatchObject({ kind });
    expect(server.requests).toHaveLength(1);
  });

  it('waits as long as a limit of the rate asks it to', async () => {
    server.answer = () => ({ status: 429, headers: { 'retry-after': '7' }, body: {} });
    expect(await failure()).toMatchObject({
      kind: 'retryable',
      limited: true,
      retryAfterMs: 7_000,
      unanswered: false,
    });
  });

  it('takes the first of several images, a data URL, and an image beside a filtered slot', async () => {
    const [image] = inBase64().body.data;
    const asUrl = { b64_json: `data:image/png;base64,${image?.b64_json}` };
    for (const data of [[image, image], [asUrl], [null, image]]) {
      server.answer = () => ({ body: { data } });
      expect(Buffer.from(await model.draw(request())).equals(png)).toBe(true);
    }
  });

  // contract.md G93
  it.each([
    ['nothing', silence],
    ['one byte now and then', drip],
  ])('ends a call that sends %s, and says that the model may have worked', async (_what, answer) => {
    server.answer = () => answer;
    const error = await failure(modelAt({ timeoutMs: 300 }).draw(request()));
    expect(error).toMatchObject({ kind: 'retryable', unanswered: true });
    expect(error.message).toContain('within 0.3 s');
  });

  it('tells a response that breaks off from a server that is not there', async () => {
    server.answer = () => breakOff;
    expect(await failure()).toMatchObject({ kind: 'retryable', unanswered: true });
    const gone = await startEngineServer(() => silence);
    await gone.close();
    expect(await failure(modelAt({ baseUrl: `${gone.url}/v1` }).draw(request()))).toMatchObject({
      kind: 'retryable',
      unanswered: false,
    });
  });

  it('rejects with the reason of its caller', async () => {
    server.answer = () => silence;
    const controller = new AbortController();
    const drawn = model.draw(request({ signal: controller.signal }));
    setTimeout(() => controller.abort(new Error('cancelled')), 100);
    await expect(drawn).rejects.toThrow('cancelled');
    await expect(model.draw(request({ signal: controller.signal }))).rejects.toThrow('cancelled');
    expect(server.requests).toHaveLength(1);
  });
});

describe('a response that is too large', () => {
  // contract.md G94
  it('is not read to its end, whether as base64, compressed, or by an address', async () => {
    let sent = 0;
    const endless = (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"data":[{"b64_json":"');
      const write = (): void => {
        while (!response.destroyed && sent < 200 * MEBIBYTE) {
          sent += MEBIBYTE;
          if (!response.write(Buffer.alloc(MEBIBYTE, 'A'))) return void response.once('drain', write);
        }
        response.end('"}]}');
      };
      write();
    };
    server.answer = () => endless;
    expect(await failure()).toMatchObject({ kind: 'unusable' });
    expect(sent).toBeLessThan(60 * MEBIBYTE);

    const { gzipSync } = await import('node:zlib');
    const bomb = gzipSync(Buffer.alloc(100 * MEBIBYTE));
    server.answer = () => (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    };
    expect(await failure()).toMatchObject({ kind: 'unusable' });

    const large = Buffer.concat([png, Buffer.alloc(30 * MEBIBYTE)]);
    server.answer = ({ method }) => (method === 'GET' ? sending(large) : byUrl(`${server.url}/large.png`));
    expect((await failure()).message).toContain('larger than');
  });
});

describe('an image that the response names by its address', () => {
  // contract.md G94
  it('is fetched from the origin of the API', async () => {
    server.answer = ({ method }) => (method === 'GET' ? sending(png) : byUrl(`${server.url}/images/1.png`));
    expect(Buffer.from(await model.draw(request())).equals(png)).toBe(true);
    server.answer = ({ method }) =>
      method === 'GET' ? sending(Buffer.from('<html>')) : byUrl(`${server.url}/images/1.png`);
    expect(await failure()).toMatchObject({ kind: 'unusable' });
    server.answer = ({ method }) =>
      method === 'GET' ? { status: 404, body: '' } : byUrl(`${server.url}/images/1.png`);
    expect(await failure()).toMatchObject({ kind: 'unusable' });
  });

  // contract.md G94
  it('is fetched from nowhere in a private network, not by a name, a redirect or another port of the same host', async () => {
    const inside = await another(() => sending(png));
    const { port } = new URL(inside.url);
    const dns = await startDnsServer({ 'inside.test': [['127.0.0.1']], 'mixed.test': [['10.0.0.1']] });
    closing.push(dns);
    const guard = createAddressGuard({ allowedNetworks: [], dnsServers: dns.servers });
    const guarded = modelAt({ guard });
    for (const url of [
      inside.url,
      `http://localhost:${port}/`,
      `http://pictures.localhost:${port}/`,
      `http://inside.test:${port}/x.png`,
      `http://mixed.test:${port}/x.png`,
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]/',
      'ftp://files.example/x.png',
      'file:///etc/passwd',
      `${server.url}/redirect`,
    ]) {
      server.answer = ({ method }) =>
        method === 'GET'
          ? { status: 302, headers: { location: `http://inside.test:${port}/x.png` }, body: '' }
          : byUrl(url);
      expect([url, (await failure(guarded.draw(request()))).kind]).toEqual([url, 'unusable']);
    }
    expect(inside.requests).toHaveLength(0);
  });

  // contract.md G94
  it('is fetched through the guard from elsewhere, without the key, and only the first of many', async () => {
    const outside = await another(({ path }) =>
      path === '/moved' ? { status: 302, headers: { location: '/1.png' }, body: '' } : sending(png),
    );
    const dns = await startDnsServer({ 'pictures.test': [['127.0.0.1'], ['127.0.0.1'], ['127.0.0.1']] });
    closing.push(dns);
    const guard = createAddressGuard({
      allowedNetworks: parseNetworks('127.0.0.1/32'),
      dnsServers: dns.servers,
    });
    const base = `http://pictures.test:${new URL(outside.url).port}`;
    server.answer = () =>
      byUrl(`${base}/moved`, ...Array.from({ length: 500 }, (_, index) => `${base}/${index}`));
    expect(Buffer.from(await modelAt({ guard }).draw(request())).equals(png)).toBe(true);
    expect(outside.requests.map(({ path }) => path)).toEqual(['/moved', '/1.png']);
    for (const { headers } of outside.requests) expect(headers.authorization).toBeUndefined();
  });

  it('that never comes ends with the call', async () => {
    server.answer = ({ method }) => (method === 'GET' ? silence : byUrl(`${server.url}/slow.png`));
    const error = await failure(modelAt({ timeoutMs: 300 }).draw(request()));
    expect(error.message).toContain('within 0.3 s');
  });
});

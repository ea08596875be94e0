import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateKey } from '../../src/api-keys/key-format.ts';
import { createClientAddress } from '../../src/http/client-address.ts';
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from '../../src/http/limits.ts';
import { createRateLimiter, type LimitHeaders } from '../../src/http/rate-limits.ts';
import { type ApiKeyId, newId, type WorkspaceId } from '../../src/ids.ts';
import { setLimits } from '../../src/workspaces/set-limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createWorkspace, startApi, type TestApi, type TestWorkspace } from './support/api.ts';

let database: TestDatabase;
let workspace: TestWorkspace;

beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await createWorkspace(database.db);
});
afterAll(() => database.drop());

async function withLimits(
  limits: Partial<HttpLimits>,
  work: (api: TestApi) => Promise<void>,
  trustedProxies: string[] = [],
): Promise<void> {
  const api = await startApi(database.db, { limits: { ...DEFAULT_HTTP_LIMITS, ...limits }, trustedProxies });
  await work(api).finally(() => api.close());
}

const whoami = (api: TestApi, key: string, headers: Record<string, string> = {}) =>
  api.call('GET', '/api/whoami', { key, headers });

// contract.md A9
test('a key may send so many requests a minute, shown by RateLimit headers, then 429 with Retry-After', () =>
  withLimits({ perKey: 3, perWorkspace: 100, authFailures: 0 }, async (api) => {
    for (let left = 2; left >= 0; left -= 1) {
      const response = await whoami(api, workspace.ownerKey);
      expect(response.status).toBe(200);
      expect(response.headers.get('ratelimit-policy')).toBe('"key";q=3;w=60, "workspace";q=100;w=60');
      expect(response.headers.get('ratelimit')).toMatch(
        new RegExp(`^"key";r=${left};t=\\d+, "workspace";r=${97 + left};t=\\d+$`),
      );
    }
    const refused = await whoami(api, workspace.ownerKey);
    expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMITED']);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect(refused.headers.get('ratelimit')).toMatch(/^"key";r=0;t=\d+, "workspace";r=97;t=\d+$/);
    const { key } = await workspace.keyOf(workspace.roles.editor);
    expect((await whoami(api, key)).status).toBe(200);
  }));

test('all keys of a workspace share its limit, and a limit of 0 a key turns both off', async () => {
  const { key } = await workspace.keyOf(workspace.roles.editor);
  await withLimits({ perKey: 100, perWorkspace: 4, authFailures: 0 }, async (api) => {
    const statuses: number[] = [];
    for (const used of [key, workspace.ownerKey, key, workspace.ownerKey, key]) {
      statuses.push((await whoami(api, used)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    const other = await createWorkspace(database.db, 'Other');
    expect((await whoami(api, other.ownerKey)).status).toBe(200);
  });
  await withLimits({ perKey: 0, perWorkspace: 1, authFailures: 0 }, async (api) => {
    for (let index = 0; index < 5; index += 1) {
      const response = await whoami(api, key);
      expect(response.status).toBe(200);
      expect(response.headers.get('ratelimit')).toBeNull();
    }
  });
});

// contract.md A30
test('failed authentications of an address are limited, but for keys that were recognised before', () =>
  withLimits({ perKey: 0, perWorkspace: 0, authFailures: 3 }, async (api) => {
    for (let index = 0; index < 5; index += 1) {
      expect((await whoami(api, workspace.ownerKey)).status).toBe(200);
    }
    for (const bad of ['garbage', `${workspace.ownerKey}x`, workspace.ownerKey.toLowerCase()]) {
      expect((await whoami(api, bad)).status).toBe(401);
    }
    const refused = await whoami(api, 'garbage');
    expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(refused.headers.get('ratelimit-policy')).toBe('"auth-failures";q=3;w=60');
    expect((await whoami(api, workspace.ownerKey)).status).toBe(200);
    // Neither is known here: both are looked up.
    const { key, apiKey } = await workspace.keyOf(workspace.roles.editor);
    expect((await whoami(api, key)).status).toBe(200);
    expect((await whoami(api, generateKey().key)).status).toBe(401);
    // Being remembered gives no authority.
    await api.call('DELETE', `/api/workspaces/${workspace.id}/api-keys/${apiKey.id}`, {
      key: workspace.ownerKey,
    });
    expect((await whoami(api, key)).status).toBe(401);
    // X-Forwarded-For of somebody who is no proxy changes nothing, and the log says so once.
    for (let index = 0; index < 2; index += 1) {
      expect((await whoami(api, 'garbage', { 'x-forwarded-for': '203.0.113.7' })).status).toBe(429);
    }
    expect(api.log.filter((line) => line.includes('X-Forwarded-For'))).toEqual([
      expect.stringContaining('"peer":"127.0.0.1"'),
    ]);
  }));

test('behind a trusted proxy each forwarded client has its own count', () =>
  withLimits(
    { perKey: 0, perWorkspace: 0, authFailures: 1 },
    async (api) => {
      const from = (address: string) => whoami(api, 'garbage', { 'x-forwarded-for': address });
      expect((await from('203.0.113.7')).status).toBe(401);
      expect((await from('203.0.113.7')).status).toBe(429);
      expect((await from('203.0.113.8')).status).toBe(401);
      // What a client puts before the proxy's own entry is not believed.
      expect((await from('198.51.100.1, 203.0.113.8')).status).toBe(429);
    },
    ['127.0.0.0/8'],
  ));

test('the client is the last address that is no trusted proxy', () => {
  const address = createClientAddress(['10.0.0.0/8', '2001:db8::1']);
  const cases: [string | undefined, string | null, string][] = [
    ['203.0.113.7', null, '203.0.113.7'],
    ['203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['::ffff:203.0.113.7', null, '203.0.113.7'],
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.1, 10.2.3.4', '198.51.100.1'],
    ['10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['10.0.0.1', 'nonsense', '10.0.0.1'],
    ['10.0.0.1', 'evil, 10.0.0.2', '10.0.0.2'],
    ['2001:db8::1', '[2001:db8:1:2:3:4:5:6]:443', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::9', null, '2001:db8:1:2::/64'],
    [undefined, '198.51.100.1', 'unknown'],
  ];
  for (const [peer, forwarded, expected] of cases) expect(address(peer, forwarded)).toBe(expected);
});

// contract.md A18
test('a body counts one more for every 64 KiB of it, whether its length was declared or not', () =>
  withLimits({ perKey: 12, perWorkspace: 0, authFailures: 0 }, async (api) => {
    const path = `/api/workspaces/${workspace.id}/roles`;
    const left = async (body: string | ReadableStream | undefined, status: number): Promise<number> => {
      const response = await fetch(api.url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${workspace.ownerKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body, duplex: 'half' }),
      });
      expect(response.status).toBe(status);
      return Number(/"key";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
    };
    const full = `{"name":"x","permissions":[],"x":"${'x'.repeat(64 * 1024 - 37)}"}`.padEnd(64 * 1024);
    const streamed = (text: string): ReadableStream => new Blob([text]).stream();
    expect(await left(undefined, 200)).toBe(11);
    expect(await left('{}', 400)).toBe(10);
    expect(await left(full, 201)).toBe(8);
    expect(await left(streamed('{}'), 400)).toBe(7);
    expect(await left(streamed(full), 409)).toBe(5);
    // Read up to the limit, refused, and charged for.
    expect(await left(streamed(`${full} `), 413)).toBe(3);
    // Refused unread.
    expect(await left(`${full} `, 413)).toBe(2);
  }));

test('what needs no key is limited by address, but for probes', () =>
  withLimits({ perAddress: 3 }, async (api) => {
    const status = async (path: string) => (await api.call('GET', path)).status;
    expect(await status('/docs/errors/not-found')).toBe(404);
    expect(await status('/openapi.json')).toBe(200);
    expect(await status('/nowhere')).toBe(404);
    const refused = await api.call('GET', '/docs');
    expect([refused.status, refused.body.code, refused.headers.get('ratelimit-policy')]).toEqual([
      429,
      'RATE_LIMITED',
      '"address";q=3;w=60',
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 200]);
    expect((await whoami(api, workspace.ownerKey)).status).toBe(200);
  }));

/** A limiter whose clock the test moves, and its caller. */
function limiterAt(limits: Partial<HttpLimits>) {
  let now = 0;
  const limiter = createRateLimiter({ ...DEFAULT_HTTP_LIMITS, ...limits }, () => now);
  const caller = {
    keyId: newId<ApiKeyId>(),
    workspaceId: newId<WorkspaceId>(),
    requestsPerKey: null,
    requestsPerWorkspace: null,
  };
  /** Whether a request with a body of so many bytes passes, and its response's headers. */
  const request = (bytes = 0, from: Parameters<typeof limiter.consume>[0] = caller) => {
    const headers: LimitHeaders = {};
    try {
      limiter.consume(from, headers);
      limiter.charge(from, bytes, headers);
      return { passes: true, headers };
    } catch {
      return { passes: false, headers };
    }
  };
  const wait = (seconds: number): void => {
    now += seconds * 1_000;
  };
  return { caller, request, wait };
}

// contract.md A9
test('what a minute allows may come at once; it comes back evenly, and whoever waits for Retry-After passes', () => {
  const { request, wait } = limiterAt({ perKey: 120, perWorkspace: 0 });
  for (let index = 0; index < 120; index += 1) expect(request().passes).toBe(true);
  for (let round = 0; round < 5; round += 1) {
    const refused = request();
    expect([refused.passes, refused.headers['Retry-After']]).toEqual([false, '1']);
    expect(refused.headers.RateLimit).toBe('"key";r=0;t=60');
    wait(1);
    expect([request().passes, request().passes]).toEqual([true, true]);
  }
  wait(30);
  expect(request().headers.RateLimit).toBe('"key";r=59;t=31');
});

// contract.md A18
test('a body that costs more than the whole limit needs a full bucket and empties it', () => {
  const { request, wait } = limiterAt({ perKey: 10, perWorkspace: 0 });
  const MIB = 1024 * 1024;
  expect(request().passes).toBe(true);
  const refused = request(MIB);
  expect(refused.passes).toBe(false);
  wait(Number(refused.headers['Retry-After']));
  const passed = request(MIB);
  expect([passed.passes, passed.headers.RateLimit]).toEqual([true, '"key";r=0;t=60']);
  wait(60);
  expect(request(20 * MIB).passes).toBe(true);
});

test('a refusal by one limit takes nothing of the other', () => {
  const { caller, request } = limiterAt({ perKey: 2, perWorkspace: 3 });
  const other = { ...caller, keyId: newId<ApiKeyId>() };
  for (let index = 0; index < 4; index += 1) request();
  expect([request(0, other).passes, request(0, other).passes]).toEqual([true, false]);
});

// contract.md A31
test("a workspace's own limits hold from the next request on, for its keys alone", () =>
  withLimits({ authFailures: 0 }, async (api) => {
    const limited = await createWorkspace(database.db, 'Limited');
    const policy = async (key: string) => {
      const { body, headers } = await whoami(api, key);
      const { limits } = body as unknown as { limits: { requestsPerMinute: unknown } };
      return [limits.requestsPerMinute, headers.get('ratelimit-policy')];
    };
    const configured = [{ key: 6_000, workspace: 24_000 }, '"key";q=6000;w=60, "workspace";q=24000;w=60'];
    expect(await policy(limited.ownerKey)).toEqual(configured);
    await setLimits(limited.operator, { requestsPerKey: 0, requestsPerWorkspace: 2 });
    expect(await policy(limited.ownerKey)).toEqual([{ key: null, workspace: 2 }, '"workspace";q=2;w=60']);
    expect((await whoami(api, limited.ownerKey)).status).toBe(429);
    await setLimits(limited.operator, { requestsPerKey: null, requestsPerWorkspace: null });
    expect(await policy(limited.ownerKey)).toEqual(configured);
    expect(await policy(workspace.ownerKey)).toEqual(configured);
  }));

import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateKey } from '../../src/api-keys/key-format.ts';
import { keyRefused } from '../../src/errors.ts';
import { DEFAULT_HTTP_LIMITS } from '../../src/http/limits.ts';
import { createRateLimiter, type LimitHeaders } from '../../src/http/rate-limits.ts';
import type { Identified } from '../../src/http/scope.ts';
import { createIdentifyClient } from '../../src/http/unknown-keys.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createWorkspace, startApi, type TestApi, type TestWorkspace } from './support/api.ts';

let database: TestDatabase;
let workspace: TestWorkspace;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await createWorkspace(database.db);
  api = await startApi(database.db, { limits: { ...DEFAULT_HTTP_LIMITS, perKey: 0 } });
});
afterAll(async () => {
  agent.destroy();
  await api.close();
  await database.drop();
});

const whoami = (key: string) => api.call('GET', '/api/whoami', { key });
const agent = new Agent({ keepAlive: true });
/** Cheaper than {@link whoami}: there are 10,000 of them. */
const statusFor = (key: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const options = { agent, headers: { authorization: `Bearer ${key}` } };
    get(`${api.url}/api/whoami`, options, (response) =>
      response.resume().once('end', () => resolve(response.statusCode)),
    ).once('error', reject);
  });

/** Tries at most three times, and waits for Retry-After between them. */
async function triesUntilServed(key: string): Promise<number> {
  for (let tries = 1; tries <= 3; tries += 1) {
    const { status, headers } = await whoami(key);
    if (status === 200) return tries;
    expect(status).toBe(429);
    await sleep(Number(headers.get('retry-after')) * 1_000);
  }
  return Number.POSITIVE_INFINITY;
}

// contract.md A30
test('10,000 unknown keys of an address keep no valid key of that address out', async () => {
  expect((await whoami(workspace.ownerKey)).status).toBe(200);
  const { key: fresh } = await workspace.keyOf(workspace.roles.editor);
  let sent = 0;
  const flood = Array.from({ length: 100 }, async () => {
    while (sent < 10_000) {
      sent += 1;
      expect([401, 429]).toContain(await statusFor(generateKey().key));
    }
  });
  const recognised = async () => {
    let served = 0;
    for (; sent < 10_000; served += 1) expect(await statusFor(workspace.ownerKey)).toBe(200);
    return served;
  };
  const unrecognised = async () => {
    while (sent < 1_000) await sleep(5);
    return triesUntilServed(fresh);
  };
  const [served, tries] = await Promise.all([recognised(), unrecognised(), ...flood]);
  expect(served).toBeGreaterThan(10);
  expect(tries).toBeLessThanOrEqual(3);
}, 120_000);

/** An address that failed too often, and keys whose look-ups end when the test says so. */
function overLimit() {
  let now = 0;
  const limiter = createRateLimiter({ ...DEFAULT_HTTP_LIMITS, authFailures: 1 }, () => now);
  const fail = (): void => limiter.recordFailure('address', {});
  fail();
  /** Look-ups in flight, in the order in which they began. */
  const lookUps: { key: string; end: (found: boolean) => void }[] = [];
  const identify = createIdentifyClient(
    {
      read: (text) => Buffer.from(text ?? ''),
      find: (hash) =>
        new Promise<Identified>((resolve, reject) => {
          const end = (found: boolean) => (found ? resolve({} as Identified) : reject(keyRefused()));
          lookUps.push({ key: hash.toString(), end });
        }),
    },
    limiter,
    () => now,
  );
  const call = async (key: string) => {
    const headers: LimitHeaders = {};
    const result = await identify({ address: 'address', headers }, key, { scope: 'caller' }).then(
      () => 'found',
      (error: { code: string }) => error.code,
    );
    return { result, retryAfter: Number(headers['Retry-After']) };
  };
  const wait = (seconds: number): void => {
    now += seconds * 1_000;
  };
  return { lookUps, call, wait, fail };
}

test('two at a time are looked up of an address over its limit; a key that comes back does not wait for new ones', async () => {
  const { lookUps, call, wait, fail } = overLimit();
  const others = Array.from({ length: 52 }, (_, index) => call(`new ${index}`));
  const refused = await call('mine');
  expect([refused.result, refused.retryAfter > 0, refused.retryAfter <= 5]).toEqual([
    'RATE_LIMITED',
    true,
    true,
  ]);
  expect(lookUps.map(({ key }) => key)).toEqual(['new 0', 'new 1']);
  wait(refused.retryAfter);
  const back = call('mine');
  await Promise.resolve();
  lookUps[0]?.end(false);
  await sleep(10);
  expect(lookUps.map(({ key }) => key)).toEqual(['new 0', 'new 1', 'mine']);
  lookUps[2]?.end(true);
  expect((await back).result).toBe('found');
  // Recognised, so it waits for nobody.
  const again = call('mine');
  await sleep(0);
  lookUps.findLast(({ key }) => key === 'mine')?.end(true);
  expect((await again).result).toBe('found');
  wait(3_601);
  fail();
  const late = call('mine');
  await sleep(0);
  // Recognised too long ago, so it waits behind the others.
  expect(lookUps.filter(({ key }) => key === 'mine')).toHaveLength(2);
  for (let ended = 0; ended < lookUps.length; ended += 1) {
    lookUps[ended]?.end(lookUps[ended]?.key === 'mine');
    await sleep(1);
  }
  await Promise.all([late, ...others]);
});

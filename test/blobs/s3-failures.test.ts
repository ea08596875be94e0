import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type BlobStore, BlobStoreError, blobKey } from '../../src/blobs/blob-store.ts';
import { S3_LIMITS, type S3Settings } from '../../src/blobs/s3/settings.ts';
import { createS3BlobStore } from '../../src/blobs/s3/store.ts';
import { describeError } from '../../src/error-text.ts';
import { type S3Call, type S3Server, startS3Server } from '../support/s3-server.ts';

const MIB = 1024 * 1024;
/** Short, so that what never responds is given up soon; a busy machine responds within them all the same. */
const LIMITS = { ...S3_LIMITS, attemptMs: 3_000, idleMs: 2_000, pauseMs: 10 };
const bytes = randomBytes(2 * MIB);
const hash = createHash('sha256').update(bytes).digest('hex');
const key = blobKey(hash);

let server: S3Server;
let store: BlobStore;
const stores: BlobStore[] = [];
const connect = (settings: Partial<S3Settings> = {}): BlobStore => {
  const made = createS3BlobStore({ ...server.settings, ...settings }, LIMITS);
  stores.push(made);
  return made;
};
beforeEach(async () => {
  server = await startS3Server();
  store = connect();
});
afterEach(async () => {
  for (const each of stores.splice(0)) await each.close();
  await server.close();
});

const plant = () => server.objects.set(key, { bytes, changedAt: Date.now() });
const read = async () => buffer((await store.open(hash))?.read() ?? new ReadableStream());
/** Spoils the first responses, and serves all others. */
const spoil = (times: number, fault: (call: S3Call) => void, method?: string) => {
  let left = times;
  server.behave = (call) => {
    if (method !== undefined && call.method !== method) call.serve();
    else if (left-- > 0) fault(call);
    else call.serve();
  };
};
const reset = ({ response }: S3Call) => response.socket?.resetAndDestroy();
/** Sends the head and half of the body, and then does something else. */
const half = (then: (call: S3Call) => void) => (call: S3Call) => {
  const from = Number(/\d+/.exec(String(call.headers.range))?.[0] ?? 0);
  call.response.writeHead(from === 0 ? 200 : 206, { 'content-length': bytes.length - from });
  call.response.write(bytes.subarray(from, from + (bytes.length - from) / 2), () => then(call));
};
const FAULTS: readonly (readonly [string, (call: S3Call) => void])[] = [
  ['503 SlowDown', ({ refuse }) => refuse(503, 'SlowDown')],
  ['500', ({ refuse }) => refuse(500, 'InternalError')],
  ['409 of two writers', ({ refuse }) => refuse(409, 'ConditionalRequestConflict')],
  ['a reset connection', reset],
  ['no response', () => undefined],
];
/** Calls that differ in method and key. */
const CALLS: readonly (() => Promise<unknown>)[] = [
  () => store.put(hash, bytes),
  () => store.has(hash),
  () => store.remove('0'.repeat(64)),
  () => Array.fromAsync(store.list(hash.slice(0, 2))),
  () => store.check(),
];

// contract.md F41
it.each(FAULTS)('%s is tried again, twice', async (_, fault) => {
  plant();
  const spoiled = new Map<string, number>();
  server.behave = (call) => {
    const name = `${call.method} ${call.key}`;
    const times = spoiled.get(name) ?? 0;
    spoiled.set(name, times + 1);
    if (times < 2) fault(call);
    else call.serve();
  };
  await Promise.all(CALLS.map((call) => call()));
  expect(spoiled.size).toBe(CALLS.length);
  expect((await read()).equals(bytes)).toBe(true);
});

// contract.md F41
it.each(FAULTS)('%s without end is an error after three attempts, and names no secret', async (_, fault) => {
  server.behave = fault;
  const ends = await Promise.allSettled(CALLS.map((call) => call()));
  expect(server.requests).toHaveLength(3 * CALLS.length);
  for (const end of ends) {
    const error: unknown = end.status === 'rejected' ? end.reason : null;
    expect(error).toBeInstanceOf(BlobStoreError);
    expect(error).toMatchObject({ retryable: true });
    const shown = JSON.stringify(describeError(error));
    expect(shown).not.toContain(server.settings.secretAccessKey);
    expect(shown).not.toContain(server.settings.accessKeyId);
    expect(shown).not.toMatch(/Signature=|may repeat the request/);
  }
});

it('an upload that S3 has waited for in vain is tried again', async () => {
  spoil(2, ({ refuse }) => refuse(400, 'RequestTimeout'));
  await store.put(hash, bytes);
  expect(server.objects.has(key)).toBe(true);
});

it('a wait that S3 asks for is kept', async () => {
  spoil(1, ({ refuse }) => refuse(503, 'SlowDown', { 'retry-after': '1' }));
  const began = performance.now();
  await store.check();
  expect(performance.now() - began).toBeGreaterThan(950);
});

it('bytes whose response was lost are there once', async () => {
  spoil(1, (call) => {
    call.response.end = () => call.response;
    call.serve();
    reset(call);
  });
  await store.put(hash, bytes);
  expect([...server.objects.keys()]).toEqual([key]);
  expect(server.requests.filter((request) => request.startsWith('PUT'))).toHaveLength(2);
});

it('bytes that do not have their hash are not stored, and not tried again', async () => {
  const wrong = store.put(hash, bytes.subarray(1));
  await expect(wrong).rejects.toThrow(/HTTP 400, XAmzContentSHA256Mismatch/);
  expect(server.requests).toEqual([`PUT ${key}`]);
  expect(server.objects.size).toBe(0);
});

// contract.md F40
it.each<[string, (call: S3Call) => void]>([
  ['is reset', reset],
  ['stalls', () => undefined],
  ['ends too early', ({ response }) => response.socket?.end()],
])('a body that %s is read on from where it stopped, and never passes for the whole', async (_, then) => {
  plant();
  spoil(1, half(then), 'GET');
  expect((await read()).equals(bytes)).toBe(true);
  spoil(100, half(then), 'GET');
  server.requests.length = 0;
  await expect(read()).rejects.toBeInstanceOf(BlobStoreError);
  expect(server.requests.filter((request) => request.startsWith('GET'))).toHaveLength(3);
});

it('a whole response with fewer or more bytes than the blob has is an error', async () => {
  plant();
  for (const wrong of [bytes.subarray(1), Buffer.concat([bytes, bytes])]) {
    server.behave = (call) => {
      if (call.method !== 'GET') call.serve();
      else if (call.headers.range === undefined) call.response.writeHead(200).end(wrong);
      else call.response.writeHead(206).end();
    };
    await expect(read()).rejects.toThrow('another number of bytes');
  }
});

// contract.md F19
it('a blob is read no faster than its reader, who may pause for longer than a body may', async () => {
  const large = randomBytes(20 * MIB);
  const name = createHash('sha256').update(large).digest('hex');
  server.objects.set(blobKey(name), { bytes: large, changedAt: Date.now() });
  const reader = (await store.open(name))?.read().getReader();
  const first = (await reader?.read())?.value ?? Buffer.of();
  await sleep(3 * LIMITS.idleMs);
  // What the kernel's buffers of a connection on loopback hold.
  expect(server.bytesWritten()).toBeLessThan(10 * MIB);
  const pieces = [first];
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    pieces.push(piece.value);
  }
  expect(Buffer.concat(pieces).equals(large)).toBe(true);
  expect(server.requests.filter((request) => request.startsWith('GET'))).toHaveLength(1);
});

it('the connection of a reader who left is closed', async () => {
  plant();
  for (let round = 0; round < 10; round += 1) {
    const reader = (await store.open(hash))?.read().getReader();
    await reader?.read();
    await reader?.cancel();
  }
  await store.close();
  expect(server.openConnections()).toBeLessThanOrEqual(2);
});

it('a bucket that is gone is no missing image', async () => {
  plant();
  server.bucket = 'another';
  await expect(store.open(hash)).rejects.toThrow(/HTTP 404.*S3_BUCKET/);
  await expect(store.has(hash)).rejects.toBeInstanceOf(BlobStoreError);
  await expect(store.remove(hash)).rejects.toBeInstanceOf(BlobStoreError);
  await expect(Array.fromAsync(store.list('00'))).rejects.toThrow('NoSuchBucket');
});

it.each<[string, Partial<S3Settings>, number, RegExp]>([
  ['key', { secretAccessKey: 'another' }, 0, /HTTP 403, SignatureDoesNotMatch.*S3_SECRET_ACCESS_KEY/],
  ['user', { accessKeyId: 'another' }, 0, /HTTP 403, InvalidAccessKeyId.*S3_ACCESS_KEY_ID/],
  ['region', { region: 'elsewhere-9' }, 0, /HTTP 403, AuthorizationHeaderMalformed.*S3_REGION/],
  ['clock', {}, 3_600_000, /HTTP 403, RequestTimeTooSkewed.*clock/],
])('a wrong %s is said so at once', async (_, settings, aheadMs, message) => {
  server.aheadMs = aheadMs;
  const other = connect(settings);
  await expect(other.put(hash, bytes)).rejects.toThrow(message);
  await expect(other.put(hash, bytes)).rejects.toMatchObject({ retryable: false });
  expect(server.requests).toHaveLength(2);
});

it('an age is counted by the clock of the store', async () => {
  server.aheadMs = 600_000;
  await store.put(hash, bytes);
  expect(await store.ageMs(hash)).toBeLessThan(60_000);
});

it.each<[string, string]>([
  ['is cut off', '<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>aa'],
  ['does not say whether it is the last', '<ListBucketResult></ListBucketResult>'],
  ['does not name the next one', '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'],
  [
    'defines entities',
    '<!DOCTYPE x [<!ENTITY a "aa">]><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>',
  ],
  ['is nested without end', '<a>'.repeat(1_000)],
  ['is a page for people', '<html><p>Sign in<br></html>'],
  ['is nothing', ''],
  ['never ends', `<ListBucketResult>${' '.repeat(5 * MIB)}`],
])('a list that %s is an error', async (_, text) => {
  server.behave = ({ response }) => response.writeHead(200).end(text);
  await expect(Array.fromAsync(store.list('00'))).rejects.toBeInstanceOf(BlobStoreError);
});

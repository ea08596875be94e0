import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createDatabase } from '../../src/db/database.ts';
import { temporalConnectionOptions } from '../../src/temporal/connection-options.ts';
import { workerTuning } from '../../src/temporal/tuning.ts';
import { createTestDatabase } from '../support/database.ts';
import { bareEnvironment } from '../support/processes.ts';

const addresses = { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d', TEMPORAL_ADDRESS: '127.0.0.1:1' };
const target = (env: Record<string, string>) =>
  temporalConnectionOptions({ ...loadConfig({ ...addresses, ...env }), TEMPORAL_ADDRESS: '127.0.0.1:1' });

it('a worker has its documented slots, caches and pollers unless told otherwise', () => {
  expect(workerTuning(loadConfig({}))).toEqual({
    pollers: {
      workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 10 },
      activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 10 },
    },
    translation: { maxCachedWorkflows: 100 },
    engineCalls: { maxConcurrentActivityTaskExecutions: 16 * availableParallelism() },
    webhooks: {
      maxConcurrentActivityTaskExecutions: 1_000,
      maxCachedWorkflows: 500,
      // A lost activity that was handed out early would spend an attempt.
      maxEagerActivityReservationsPerWorkflowTask: 0,
    },
  });
  const told = workerTuning(
    loadConfig({ WORKER_POLLERS: 'auto', WEBHOOK_ACTIVITY_SLOTS: '50', TRANSLATION_CACHED_WORKFLOWS: '7' }),
  );
  expect(told.pollers.activityTaskPollerBehavior).toEqual({ type: 'autoscaling' });
  expect(told.webhooks.maxConcurrentActivityTaskExecutions).toBe(50);
  expect(told.translation.maxCachedWorkflows).toBe(7);
});

it.each([
  ['WORKER_POLLERS', '1'],
  ['WORKER_POLLERS', 'many'],
  ['WEBHOOK_ACTIVITY_SLOTS', '0'],
  ['WEBHOOK_CACHED_WORKFLOWS', '-1'],
  ['TRANSLATION_ACTIVITY_SLOTS', '1.5'],
  ['TRANSLATION_CACHED_WORKFLOWS', 'x'],
  ['DATABASE_STATEMENT_TIMEOUT_SECONDS', '-1'],
  ['DATABASE_POOL_SIZE', '1'],
  ['PORT', ' '],
  ['PORT', '0x50'],
  ['PORT', '3e3'],
  ['PORT', '+80'],
  ['PORT', '8o'],
  ['METRICS_PORT', '65536'],
  ['RATE_LIMIT_PER_KEY', '1_000'],
  ['RETENTION_DAYS', 'Infinity'],
  ['AI_WAIT_SECONDS', ' 5'],
  ['LOG_LEVEL', 'verbose'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_SERVICE_NAME', 'two words'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.1'],
  ['WEBHOOK_TRACEPARENT', 'yes'],
])('%s=%s stops the start with its name', (name, value) => {
  expect(() => loadConfig({ [name]: value })).toThrow(new RegExp(`^  ${name}: `, 'm'));
});

it('a number out of its bounds is told what they are', () => {
  expect(() => loadConfig({ PORT: '99999' })).toThrow(
    '  PORT: expected a whole number in decimal digits, from 0 to 65535',
  );
});

it('numbers are taken in decimal digits, with a fraction where one makes sense', () => {
  const { PORT, AI_WAIT_SECONDS, RATE_LIMIT_PER_KEY } = loadConfig({ PORT: '080', AI_WAIT_SECONDS: '2.5' });
  expect([PORT, AI_WAIT_SECONDS, RATE_LIMIT_PER_KEY]).toEqual([80, 2.5, 6_000]);
});

it.each(['server.ts', 'worker.ts'])(
  '%s names a bad LOG_LEVEL in plain words, as any other variable',
  async (file) => {
    const run = promisify(execFile)(process.execPath, [file], {
      env: { ...bareEnvironment(), ...addresses, LOG_LEVEL: 'verbose', PORT: '0' },
    });
    await expect(run).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Bad environment variables:\n {2}LOG_LEVEL: [^\n]+\n$/),
    });
  },
);

it('half a client certificate, certificates without TLS and a file that is not there stop the start', () => {
  expect(() => loadConfig({ TEMPORAL_TLS_CERT: '/a.pem' })).toThrow(/TEMPORAL_TLS_KEY: needed/);
  expect(() => loadConfig({ TEMPORAL_TLS_KEY: '/a.pem' })).toThrow(/TEMPORAL_TLS_CERT: needed/);
  expect(() => loadConfig({ TEMPORAL_TLS: 'false', TEMPORAL_TLS_CA: '/a.pem' })).toThrow(
    /TEMPORAL_TLS: false/,
  );
  expect(() => target({ TEMPORAL_TLS_CA: '/nowhere/ca.pem' })).toThrow(/^TEMPORAL_TLS_CA: .*ENOENT/);
});

it('images in a bucket need its address, its name and a key, and every bad one is named', () => {
  const s3 = {
    BLOB_STORE: 's3',
    S3_ENDPOINT: 'https://s3.example.com',
    S3_BUCKET: 'images',
    S3_ACCESS_KEY_ID: 'AK',
    S3_SECRET_ACCESS_KEY: 'very secret',
  };
  expect(loadConfig(s3)).toMatchObject({ S3_REGION: 'us-east-1', S3_PATH_STYLE: true });
  expect(loadConfig({}).BLOB_STORE).toBe('folder');
  expect(() => loadConfig({ BLOB_STORE: 's3' })).toThrow(
    ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']
      .map((name) => `\n  ${name}: needed by BLOB_STORE=s3, but not set`)
      .join(''),
  );
  for (const [name, value] of [
    ['BLOB_STORE', 'disk'],
    ['S3_ENDPOINT', 's3.example.com'],
    ['S3_ENDPOINT', 'https://s3.example.com/images'],
    ['S3_ENDPOINT', 'https://user:very-secret@s3.example.com'],
    ['S3_BUCKET', 'Images/of'],
    ['S3_SSE', 'rot13'],
    ['S3_PATH_STYLE', 'no'],
  ] as const) {
    expect(() => loadConfig({ ...s3, [name]: value })).toThrow(new RegExp(`^  ${name}: `, 'm'));
    expect(() => loadConfig({ ...s3, [name]: value })).not.toThrow(/very-secret/);
  }
  const inHost = { ...s3, S3_PATH_STYLE: 'false' };
  expect(loadConfig(inHost).S3_PATH_STYLE).toBe(false);
  for (const S3_ENDPOINT of ['http://10.0.0.1:9000', 'http://[::1]:9000']) {
    expect(() => loadConfig({ ...inHost, S3_ENDPOINT })).toThrow(/^ {2}S3_PATH_STYLE: false, but/m);
  }
});

it('headers for the collector are read as OpenTelemetry writes them, and a bad one is not quoted', () => {
  const read = (text: string) => loadConfig({ OTEL_EXPORTER_OTLP_HEADERS: text }).OTEL_EXPORTER_OTLP_HEADERS;
  expect(read('x-key=a%20b, other=c=d')).toEqual({ 'x-key': 'a b', other: 'c=d' });
  expect(read('')).toEqual({});
  for (const bad of ['very-secret', 'x-key=%zzvery-secret', 'two words=very-secret']) {
    expect(() => read(bad)).toThrow(/^ {2}OTEL_EXPORTER_OTLP_HEADERS: /m);
    expect(() => read(bad)).not.toThrow(/very-secret/);
  }
});

it('an API key turns TLS on, and nothing else does by itself', () => {
  expect(target({})).toEqual({ address: '127.0.0.1:1', tls: false });
  expect(target({ TEMPORAL_API_KEY: 'k' })).toEqual({ address: '127.0.0.1:1', apiKey: 'k', tls: {} });
  expect(target({ TEMPORAL_TLS: 'true' }).tls).toEqual({});
});

it('Postgres ends a statement that takes longer than it may', async () => {
  const database = await createTestDatabase();
  const db = createDatabase({ connectionString: database.url, statementTimeout: 100 });
  await expect(sql`SELECT pg_sleep(5)`.execute(db)).rejects.toMatchObject({ code: '57014' });
  await db.destroy();
  await database.drop();
});

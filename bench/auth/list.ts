/**
 * Authenticated lists of API keys through the service, against the same two statements behind bare Hono and pg: both
 * as processes of their own, over kept connections on loopback, in turns. And what judging a key costs by itself:
 * the form and checksum, the hash, the statement. And the same service traced, with a collector that takes everything.
 *
 * Environment: BENCH_ROUNDS (8), BENCH_SECONDS (4) for each measurement of a round.
 */

import { startEphemeralEngines } from '../../soak/support/engines.ts';
import { setting } from '../../soak/support/report.ts';
import { authenticate } from '../../src/api-keys/authenticate.ts';
import { createApiKey } from '../../src/api-keys/create.ts';
import { generateKey, parseKey } from '../../src/api-keys/key-format.ts';
import { createDatabase } from '../../src/db/database.ts';
import { newSecretKey } from '../../src/secret-keys.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { type Child, startChild } from '../lib/child.ts';
import { measureRate } from '../lib/load.ts';
import { alternate, report } from '../lib/suite.ts';
import { startSink } from '../webhooks/receiving.ts';

const ROUNDS = setting('BENCH_ROUNDS', 8);
const DURATION_MS = setting('BENCH_SECONDS', 4) * 1_000;
const CONNECTIONS = 16;
const KEYS = 10;
const CHECKS = 20_000;
/** What tracing may take of each request (contract.md O6). */
const TRACING_US = 150;

const engines = await startEphemeralEngines();
const db = createDatabase({ connectionString: engines.databaseUrl, prepareStatements: true });
const { workspaceId, roles, apiKey } = await createWorkspace(db, { name: 'Bench', credits: 0 });
const operator = { db, actor: { kind: 'operator', workspaceId } as const, requestId: 'bench' };
for (let index = 1; index < KEYS; index += 1) {
  await createApiKey(operator, { label: `Key ${index}`, roleId: roles.editor });
}

const env = {
  DATABASE_URL: engines.databaseUrl,
  DATABASE_POOL_SIZE: '10',
  TEMPORAL_ADDRESS: engines.temporalAddress,
  PORT: '0',
  SECRETS_KEYS: newSecretKey('bench'),
  // Far above what the loop can reach: every request is counted and carries the headers.
  RATE_LIMIT_PER_KEY: '100000000',
  RATE_LIMIT_PER_WORKSPACE: '100000000',
};
const service = await startChild(new URL('service.ts', import.meta.url), env);
const bare = await startChild(new URL('bare.ts', import.meta.url), env);
const collector = await startSink(1);
const traced = await startChild(new URL('service.ts', import.meta.url), {
  ...env,
  OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.urls[0] ?? '').origin,
});

const cpuTimes: Record<'ours' | 'bare' | 'traced', number[]> = { ours: [], bare: [], traced: [] };

/** The rate of one side. Also notes the CPU time of a request. */
const rateOf = (side: keyof typeof cpuTimes, child: Child) => async (): Promise<number> => {
  const before = await child.cpuTime();
  const { responses, perSecond } = await measureRate({
    origin: child.url,
    path: `/api/workspaces/${workspaceId}/api-keys`,
    headers: { authorization: `Bearer ${apiKey.key}` },
    connections: CONNECTIONS,
    durationMs: DURATION_MS,
  });
  cpuTimes[side].push(((await child.cpuTime()) - before) / responses);
  return perSecond;
};

/** Microseconds of one call, over many. */
async function costOf(times: number, work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  for (let index = 0; index < times; index += 1) await work();
  return ((performance.now() - startedAt) * 1_000) / times;
}

try {
  const measurements = {
    ours: rateOf('ours', service),
    bare: rateOf('bare', bare),
    traced: rateOf('traced', traced),
  };
  for (const measure of Object.values(measurements)) await measure();
  for (const times of Object.values(cpuTimes)) times.length = 0;
  const rates = await alternate(ROUNDS, measurements);

  const hash = parseKey(apiKey.key) ?? Buffer.alloc(0);
  const unknown = generateKey().key;
  const mistyped = `${unknown.slice(0, -1)}${unknown.endsWith('0') ? '1' : '0'}`;
  const costs = {
    'refusing a wrong checksum, us': () => costOf(CHECKS, () => parseKey(mistyped)),
    'checksum and hash of a key, us': () => costOf(CHECKS, () => parseKey(apiKey.key)),
    'the statement for key, role and workspace, us': () =>
      costOf(CHECKS / 20, () => authenticate(db, hash, { scope: 'workspace', id: workspaceId })),
  };
  for (const cost of Object.values(costs)) await cost();
  const figures = await alternate(5, costs);

  if ((await collector.count()).count === 0) throw new Error('nothing was traced');
  const { ours, bare: ofBare } = cpuTimes;
  report(
    'auth',
    [
      { name: 'authenticated lists, requests/s', higherIsBetter: true, promised: 0.9, ...rates },
      { name: 'CPU time of the server per request, us', higherIsBetter: false, ours, bare: ofBare },
      {
        name: `CPU time of tracing a request, of ${TRACING_US} us, us`,
        higherIsBetter: false,
        promised: 1,
        ours: cpuTimes.traced.map((time, round) => time - (ours[round] ?? Number.NaN)),
        bare: ours.map(() => TRACING_US),
      },
    ],
    Object.entries(figures).map(([name, values]) => ({ name, values })),
  );
} finally {
  await service.stop();
  await traced.stop();
  await collector.close();
  await bare.stop();
  await db.destroy();
  await engines.stop();
}

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, startServer } from '../../src/http/server.ts';
import { logger, startTestService, type TestService } from '../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { eventually } from '../support/wait.ts';

let service: TestService;
let postgres: TcpProxy;
let temporal: TcpProxy;
let server: RunningService;

beforeAll(async () => {
  service = await startTestService();
  const database = new URL(service.config.DATABASE_URL);
  postgres = await startTcpProxy({ host: database.hostname, port: Number(database.port) });
  database.host = postgres.address;
  const [host = '', port] = service.config.TEMPORAL_ADDRESS.split(':');
  temporal = await startTcpProxy({ host, port: Number(port) });
  server = await startServer(
    { ...service.config, DATABASE_URL: database.href, TEMPORAL_ADDRESS: temporal.address },
    logger,
  );
});
afterAll(async () => {
  await server.stop();
  await postgres.close();
  await temporal.close();
  await service.stop();
});

async function readiness() {
  const began = performance.now();
  const response = await fetch(new URL('/readyz', server.url));
  const { checks } = (await response.json()) as { checks: object };
  return { status: response.status, checks, ms: performance.now() - began };
}

const untilStatus = (status: number) => eventually(readiness, (answer) => answer.status === status);

test('/readyz names the part that is down, each of them and both, and recovers; /healthz does not mind', async () => {
  expect((await untilStatus(200)).checks).toEqual({ postgres: 'ok', temporal: 'ok' });

  await postgres.cut();
  const noDatabase = await untilStatus(503);
  expect(noDatabase.checks).toEqual({ postgres: 'unavailable', temporal: 'ok' });

  await temporal.cut();
  const nothing = await readiness();
  expect([nothing.status, nothing.checks]).toEqual([
    503,
    { postgres: 'unavailable', temporal: 'unavailable' },
  ]);
  expect((await fetch(new URL('/healthz', server.url))).status).toBe(200);

  await postgres.restore();
  const noTemporal = await eventually(
    readiness,
    ({ checks }) => 'postgres' in checks && checks.postgres === 'ok',
  );
  expect([noTemporal.status, noTemporal.checks]).toEqual([503, { postgres: 'ok', temporal: 'unavailable' }]);
  expect(noTemporal.ms).toBeLessThan(2_500);

  await temporal.restore();
  expect((await untilStatus(200)).checks).toEqual({ postgres: 'ok', temporal: 'ok' });
});

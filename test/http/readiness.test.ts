import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createReadiness } from '../../src/http/readiness.ts';
import { type RunningService, startServer } from '../../src/processes/server.ts';
import { scrape } from '../metrics/support/exposition.ts';
import { logger, useTestService } from '../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { eventually } from '../support/wait.ts';

const service = useTestService();

let postgres: TcpProxy;
let temporal: TcpProxy;
let server: RunningService;

beforeAll(async () => {
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
});

async function readiness(url = server.url) {
  const began = performance.now();
  const response = await fetch(new URL('/readyz', url));
  const { checks } = (await response.json()) as { checks: Record<string, string> };
  return { status: response.status, checks, ms: performance.now() - began };
}

const until = (postgresIs: string, temporalIs: string, url?: string) =>
  eventually(
    () => readiness(url),
    ({ checks }) => checks.postgres === postgresIs && checks.temporal === temporalIs,
  );

test('/readyz is 503 while Postgres is away, not Temporal, and /healthz is 200 all along', async () => {
  expect((await until('ok', 'ok')).status).toBe(200);

  await temporal.cut();
  const noTemporal = await until('ok', 'unavailable');
  expect(noTemporal.status).toBe(200);
  expect(noTemporal.ms).toBeLessThan(10_000);
  const figures = await scrape(server.metricsUrl);
  expect(figures.value('dependency_available', { dependency: 'postgres' })).toBe(1);
  expect(figures.value('dependency_available', { dependency: 'temporal' })).toBe(0);

  await postgres.cut();
  expect((await until('unavailable', 'unavailable')).status).toBe(503);
  expect((await fetch(new URL('/healthz', server.url))).status).toBe(200);

  await temporal.restore();
  expect((await until('unavailable', 'ok')).status).toBe(503);
  await postgres.restore();
  expect((await until('ok', 'ok')).status).toBe(200);
});

test('a Postgres that is silent is noticed within two seconds, and again when it speaks', async () => {
  await until('ok', 'ok');
  postgres.silence();
  const away = await until('unavailable', 'ok');
  expect(away.status).toBe(503);
  expect(away.ms).toBeLessThan(10_000);
  postgres.speak({ lost: true });
  expect((await until('ok', 'ok')).status).toBe(200);
});

test('however many requests come, each dependency is checked once a second', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const ask = createReadiness({
    part: {
      needed: true,
      check: async () => {
        asked += 1;
        await sleep(20);
      },
    },
  });
  for (const _ of [1, 2, 3]) {
    const answers = await Promise.all(Array.from({ length: 100 }, ask));
    expect(answers.filter(({ ready }) => !ready)).toEqual([]);
  }
  expect(asked).toBe(1);
  vi.advanceTimersByTime(1_000);
  await ask();
  expect(asked).toBe(2);
});

test("a worker's /readyz is on its metrics' port and needs both", async () => {
  const worker = await service.startWorker();
  expect((await until('ok', 'ok', worker.metricsUrl)).status).toBe(200);
  expect(await (await fetch(new URL('/healthz', worker.metricsUrl))).json()).toEqual({ status: 'ok' });
});

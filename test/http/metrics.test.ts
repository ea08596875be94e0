import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createRooms } from '../../src/http/rooms.ts';
import { createHttpMetrics } from '../../src/metrics/http.ts';
import { serveMetrics } from '../../src/metrics/serve.ts';
import { startServer } from '../../src/processes/server.ts';
import { startWorker } from '../../src/processes/worker.ts';
import { createTestDatabase } from '../support/database.ts';
import { startTestService } from '../support/service.ts';
import { send, startApi } from './support/api.ts';

const urlsIn = (line: string): string[] => /metrics at (http:[^"]+)/.exec(line)?.slice(1) ?? [];

test('every response is counted by its route, never by what a client wrote', async () => {
  const database = await createTestDatabase();
  const metrics = createHttpMetrics(
    () => 0,
    () => 0,
    createRooms(),
  );
  const served = await serveMetrics(metrics.registry, { port: 0 });
  const api = await startApi(database.db, { observe: metrics.observe });
  await api.call('GET', '/api/whoami');
  await api.call('GET', '/api/workspaces/secret-looking/api-keys');
  await api.call('PROPFIND', '/nowhere/else');
  metrics.observe({ route: '/x', method: 'GET', status: 503, seconds: 0.01, unavailable: 'memory' });
  const { text } = await send(served.url, 'GET', '');
  expect(text).toContain('http_unavailable_total{cause="memory"} 1\n');
  expect(text).toContain('http_unavailable_total{cause="database_away"} 0\n');
  expect(text).toMatch(/_count\{route="\/api\/whoami",method="GET",status="401"\} 1/);
  expect(text).toMatch(
    /_count\{route="\/api\/workspaces\/\{workspaceId\}\/api-keys",method="GET",status="401"\} 1/,
  );
  expect(text).toMatch(/_count\{route="unmatched",method="other",status="404"\} 1/);
  expect(text).toContain('process_resident_memory_bytes');
  expect(text).not.toMatch(/secret-looking|nowhere|PROPFIND/);
  await api.close();
  await served.close();
  await database.drop();
});

test('server and worker each serve their figures on a loopback port of their own, and close it when they stop', async () => {
  const service = await startTestService();
  const { key } = await service.workspace();
  await service.call(key, 'GET', '/api/whoami');
  const metricsUrls: string[] = [];
  const watched = pino(
    { level: 'info' },
    { write: (line: string) => void metricsUrls.push(...urlsIn(line)) },
  );
  const server = await startServer(service.config, watched);
  const worker = await startWorker(service.config, watched);
  expect(metricsUrls).toHaveLength(2);
  expect(metricsUrls).toContain(server.metricsUrl);
  await send(server.url, 'GET', '/api/whoami', { key });
  const texts = await Promise.all(metricsUrls.map(async (url) => (await send(url, 'GET', '')).text));
  for (const text of texts) expect(text).toContain('process_cpu_seconds_total');
  expect(texts[metricsUrls.indexOf(server.metricsUrl)]).toMatch(
    /_count\{route="\/api\/whoami",method="GET",status="200"\} 1/,
  );
  for (const url of metricsUrls) expect(new URL(url).hostname).toBe('127.0.0.1');
  await server.stop();
  await worker.stop();
  for (const url of metricsUrls) await expect(fetch(url)).rejects.toThrow();
  await service.stop();
});

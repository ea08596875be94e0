import { expect, test } from 'vitest';
import { createHttpMetrics, serveMetrics } from '../../src/http/metrics.ts';
import { createTestDatabase } from '../support/database.ts';
import { send, startApi } from './support/api.ts';

test('every answer is counted by its route, never by what a client wrote', async () => {
  const database = await createTestDatabase();
  const metrics = createHttpMetrics();
  const served = await serveMetrics([metrics.registry], { port: 0 });
  const api = await startApi(database.db, { observe: metrics.observe });
  await api.call('GET', '/api/whoami');
  await api.call('GET', '/api/workspaces/secret-looking/api-keys');
  await api.call('PROPFIND', '/nowhere/else');
  const { text } = await send(served.url, 'GET', '');
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

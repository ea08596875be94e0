import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { serveMetrics } from '../../src/metrics/serve.ts';
import { startServer } from '../../src/processes/server.ts';
import { logger, startTestService } from '../support/service.ts';
import { scrape } from './support/exposition.ts';

it('metrics are for this machine alone until METRICS_HOST says otherwise, for server and worker alike', async () => {
  expect(loadConfig({})).toMatchObject({ METRICS_HOST: '127.0.0.1', METRICS_PORT: 0 });
  expect(loadConfig({ METRICS_HOST: '' }).METRICS_HOST).toBe('127.0.0.1');
  const service = await startTestService();
  const config = { ...service.config, METRICS_HOST: '0.0.0.0' };
  const server = await startServer(config, logger);
  const worker = await service.startWorker({}, { METRICS_HOST: '0.0.0.0' });
  for (const { metricsUrl } of [server, worker]) {
    expect(new URL(metricsUrl).hostname).toBe('0.0.0.0');
    const found = await scrape(metricsUrl.replace('0.0.0.0', '127.0.0.1'));
    expect(found.value('process_start_time_seconds')).toBeGreaterThan(0);
  }
  await server.stop();
  await service.stop();
});

it('an address that cannot be had stops the start with the name of the variable', async () => {
  const served = await serveMetrics(new Registry(), { port: 0 });
  const taken = Number(new URL(served.url).port);
  await expect(serveMetrics(new Registry(), { port: taken })).rejects.toThrow(`METRICS_PORT ${taken}`);
  await expect(serveMetrics(new Registry(), { host: '192.0.2.1', port: 0 })).rejects.toThrow(
    'METRICS_HOST 192.0.2.1 is not an address of this machine',
  );
  await served.close();
});

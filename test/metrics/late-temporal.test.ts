import { pino } from 'pino';
import { expect, it } from 'vitest';
import { startWorker } from '../../src/processes/worker.ts';
import { startTestService } from '../support/service.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { eventually } from '../support/wait.ts';
import { scrape } from './support/exposition.ts';

it("a worker that waits for Temporal serves its figures meanwhile, and those of Temporal's SDK from then on", async () => {
  const service = await startTestService();
  const [host = '', port] = service.config.TEMPORAL_ADDRESS.split(':');
  const temporal = await startTcpProxy({ host, port: Number(port) });
  await temporal.cut();
  const lines: string[] = [];
  const watched = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const starting = startWorker({ ...service.config, TEMPORAL_ADDRESS: temporal.address }, watched);
  await eventually(
    async () => lines.filter((line) => line.includes('waiting for Temporal')),
    (waits) => waits.length >= 2,
  );
  const url = /metrics at (http:[^"]+)/.exec(lines.join(''))?.[1] ?? '';
  const waiting = await scrape(url);
  expect(waiting.value('webhook_delivery_attempts_total', { outcome: 'succeeded' })).toBe(0);
  expect(waiting.families.has('jobs_open')).toBe(true);

  await temporal.restore();
  const worker = await starting;
  expect(worker.metricsUrl).toBe(url);
  const running = await eventually(
    () => scrape(url),
    (found) => found.families.has('temporal_num_pollers'),
  );
  expect(running.families.get('temporal_request_total')).toBe('counter');
  await worker.stop();
  await temporal.close();
  await service.stop();
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { collectGarbage } from '../support/collect-garbage.ts';
import { startTestService } from '../support/service.ts';

/** The bundle of workflows alone takes three megabytes of each of a worker's five runtimes. */
const LEFT_OF_A_WORKER = 10_000_000;
const WORKERS = 4;

/** Bytes that are still held once a server and a worker have started and stopped. */
async function heldAfterOne(): Promise<number> {
  const service = await startTestService();
  await service.startWorker();
  await service.stop();
  collectGarbage();
  await sleep(300);
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test('what has stopped is let go: workers that follow each other in a process need no more memory than one', async () => {
  const afterFirst = await heldAfterOne();
  let held = afterFirst;
  for (let worker = 0; worker < WORKERS; worker += 1) held = await heldAfterOne();
  expect((held - afterFirst) / WORKERS).toBeLessThan(LEFT_OF_A_WORKER);
});

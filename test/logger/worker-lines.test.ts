import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningWorker, startWorker } from '../../src/processes/worker.ts';
import { emit, register, untilDelivery } from '../support/events.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { useTestService } from '../support/service.ts';
import { createStandIn, translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const service = useTestService();

const lines: string[] = [];
const watched = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
const parsed = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);

let receiver: Receiver;
let worker: RunningWorker;
const engine = createStandIn();

beforeAll(async () => {
  receiver = await startReceiver();
  worker = await startWorker(service.config, watched, { provider: engine });
});
afterAll(async () => {
  await worker.stop();
  await receiver.close();
});

it("lines about a run name the row that it is about, as all other lines do, and hold nobody's secret", async () => {
  const workspace = await service.workspace();
  const { secret } = await register(service, workspace, `${receiver.url}/token-in-a-path`);
  receiver.answer = () => 503;
  const [id] = await emit(service, workspace, 'A title that nobody logs');
  if (id === undefined) throw new Error('nobody subscribes');
  await untilDelivery(service, id, (row) => row.attempts === 1);
  engine.behave = () => Promise.reject(new Error('a fault of the engine'));
  const { job } = await translating(service).translate(workspace, 300);

  const failed = await eventually(
    async () => parsed().find((line) => line.jobId === job.id && line.msg === 'Activity failed'),
    (line) => line !== undefined,
  );
  expect(failed).toMatchObject({
    level: 40,
    activityType: 'translateBatch',
    err: { message: 'a fault of the engine' },
  });
  const ofDelivery = parsed().filter((line) => line.deliveryId === id);
  expect(ofDelivery.map((line) => line.activityType)).toContain('attemptDelivery');

  const text = lines.join('');
  for (const hidden of [secret, workspace.key, 'token-in-a-path', 'A title that nobody logs']) {
    expect(text).not.toContain(hidden);
  }
});

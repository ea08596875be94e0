import { afterAll, beforeAll, beforeEach, it } from 'vitest';
import type { JobId } from '../../../src/ids.ts';
import type { ImageModel } from '../../../src/providers/image-model.ts';
import { createPseudoImageModel } from '../../../src/providers/images/pseudo.ts';
import { ProviderError } from '../../../src/providers/types.ts';
import { generationWorkflowId } from '../../../src/temporal/ids.ts';
import { createStandInWriter, generating } from '../../support/generating.ts';
import { startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { recordHistory } from './history.ts';

let service: TestService;
let workspace: TestWorkspace;
let calls: ReturnType<typeof generating>;
const writers = createStandInWriter();
const pseudo = createPseudoImageModel();
let draw = pseudo.draw;
const imageModel: ImageModel = { ...pseudo, draw: (request) => draw(request) };
const record = (job: { id: string }, scenario: string) =>
  recordHistory(generationWorkflowId(job.id as JobId), `generateArticle/${scenario}`);

beforeAll(async () => {
  service = await startTestService({ UNBILLED_LIMIT_WORDS: '0' });
  calls = generating(service);
  workspace = await service.workspace(100_000);
  await service.startWorker({ writers, imageModel });
});
beforeEach(() => {
  draw = pseudo.draw;
  writers.responses = {};
});
afterAll(() => service.stop());

it('completed with more images than are drawn at once', async () => {
  await record((await calls.generate(workspace, { imageCount: 5 })).job, 'completed-with-images');
});

it('completed without the image whose model refuses this deployment', async () => {
  draw = (request) =>
    request.role === 'hero'
      ? Promise.reject(new ProviderError('misconfigured', 'No such key.', { retryAfterMs: 1 }))
      : pseudo.draw(request);
  await record((await calls.generate(workspace, { imageCount: 2 })).job, 'completed-without-its-cover');
});

it('completed without images, since none could be described', async () => {
  writers.responses.imagePrompts = () =>
    Promise.reject(new ProviderError('misconfigured', 'No such key.', { retryAfterMs: 1 }));
  await record((await calls.generate(workspace, { imageCount: 2 })).job, 'completed-without-prompts');
});

it('cancelled while a model draws', async () => {
  let asked = 0;
  draw = ({ signal }) => {
    asked += 1;
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  };
  const { job } = await calls.generate(workspace, { imageCount: 4 });
  await eventually(
    () => Promise.resolve(asked),
    (so) => so === 3,
  );
  await calls.cancel(workspace, job.id);
  await record(job, 'cancelled-while-a-model-draws');
});

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readDecisions } from '../../../src/document/translation/style-sheet.ts';
import type { JobId } from '../../../src/ids.ts';
import type { Job } from '../../../src/jobs/schemas.ts';
import { ProviderError } from '../../../src/providers/types.ts';
import { refreshWorkflowId, translationWorkflowId } from '../../../src/temporal/ids.ts';
import { startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { createStandIn, hang, translating } from '../../support/translating.ts';
import { eventually } from '../../support/wait.ts';
import { recordHistory } from './history.ts';

let service: TestService;
let workspace: TestWorkspace;
let calls: ReturnType<typeof translating>;
let asked = 0;
let drawing: (signal: AbortSignal) => Promise<void> = async () => undefined;
/** An engine that can draw a style sheet. */
const provider = {
  ...createStandIn(),
  async styleSheet({ signal }: { signal: AbortSignal }) {
    asked += 1;
    await drawing(signal);
    return { ...readDecisions({ address: 'tú' }, 'es'), terms: [{ source: 'wordb', target: 'palabra' }] };
  },
};

beforeAll(async () => {
  service = await startTestService();
  calls = translating(service);
  workspace = await service.workspace(100_000);
  await service.startWorker({ provider });
});
afterAll(() => service.stop());
beforeEach(() => {
  asked = 0;
});

const record = (job: Job, scenario: string) =>
  recordHistory(translationWorkflowId(job.id as JobId), `translateArticle/sheet-${scenario}`);
const ended = (job: Job, status: Job['status']) =>
  expect(calls.untilFinal(workspace, job.id)).resolves.toMatchObject({ status });

it('a style sheet before the batches', async () => {
  drawing = async () => undefined;
  const { job } = await calls.translate(workspace, 1_200);
  await record(job, 'success');
  await ended(job, 'COMPLETED');
});

it('a sheet that comes after failures that passed', async () => {
  drawing = async () => {
    if (asked < 3) throw new ProviderError('retryable', 'busy');
  };
  const { job } = await calls.translate(workspace, 500);
  await record(job, 'after-retries');
  await ended(job, 'COMPLETED');
});

it('no sheet, since the engine refuses to draw one', async () => {
  drawing = async () => {
    throw new ProviderError('refused', 'The engine declines.');
  };
  const { job } = await calls.translate(workspace, 500);
  await record(job, 'refused');
  await ended(job, 'COMPLETED');
});

it('cancelled while the sheet is drawn', async () => {
  drawing = hang;
  const { job } = await calls.translate(workspace, 500);
  await eventually(
    async () => asked,
    (count) => count > 0,
  );
  await calls.cancel(workspace, job.id);
  await record(job, 'cancelled');
  await ended(job, 'CANCELLED');
});

it('a refresh of a version whose sheet takes more terms', async () => {
  drawing = async () => undefined;
  const { version } = await calls.outdated(workspace, 1_200);
  const job = await calls.refresh(workspace, version.id);
  await recordHistory(refreshWorkflowId(job.id as JobId), 'refreshTranslation/sheet-applied');
  await ended(job, 'COMPLETED');
});

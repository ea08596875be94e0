import { expect, it } from 'vitest';
import type { JobId } from '../../../src/ids.ts';
import { generationWorkflowId, refreshWorkflowId, translationWorkflowId } from '../../../src/temporal/ids.ts';
import { generating } from '../../support/generating.ts';
import { startTestService } from '../../support/service.ts';
import { createStandIn } from '../../support/translating.ts';
import { recordHistory } from './history.ts';

it('jobs that are refused at their turn, since the workspace has too much unpaid work', async () => {
  const service = await startTestService();
  const provider = createStandIn();
  const calls = generating(service);
  const workspace = await service.workspace(1_000);
  const worker = await service.startWorker({ provider });
  const { version } = await calls.outdated(workspace, 100);
  await worker.stop();
  const translation = (await calls.translate(workspace, 100)).job;
  const refresh = await calls.refresh(workspace, version.id);
  const generation = (await calls.generate(workspace)).job;
  await service.db
    .insertInto('unpaid_work')
    .values({ job_id: translation.id as JobId, workspace_id: workspace.id, reason: 'failed', words: 100_001 })
    .execute();
  await service.startWorker({ provider });
  for (const [job, workflow, idOf] of [
    [translation, 'translateArticle', translationWorkflowId],
    [refresh, 'refreshTranslation', refreshWorkflowId],
    [generation, 'generateArticle', generationWorkflowId],
  ] as const) {
    expect((await calls.untilFinal(workspace, job.id)).status).toBe('FAILED');
    await recordHistory(idOf(job.id as JobId), `${workflow}/refused-at-its-turn`);
  }
  await service.stop();
});

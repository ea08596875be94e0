import { expect, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { hang, useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, provider, operator, workspace, calls, reconcile } = useTranslations();

const untouched = { balance: 10, reserved: 0, available: 10 };

it('a run that an operator terminates ends its job FAILED, releases its hold and is not started again', async () => {
  let asked = 0;
  provider.behave = (signal) => {
    asked += 1;
    return hang(signal);
  };
  const { article, job } = await calls.translate(workspace, 300);
  await eventually(
    async () => asked,
    (count) => count > 0,
  );
  const run = operator.client.workflow.getHandle(translationWorkflowId(job.id as JobId));
  await run.terminate('enough');
  expect(await calls.readWallet(workspace)).toMatchObject({ reserved: 1 });
  await reconcile();
  const ended = await calls.untilFinal(workspace, job.id);
  expect(ended).toMatchObject({ status: 'FAILED', errorCode: 'TRANSLATION_FAILED', consumedCredits: 0 });
  expect(ended.errorMessage).toMatch(/operator/);
  expect(await calls.readWallet(workspace)).toEqual(untouched);
  expect(await calls.readArticle(workspace, article.id)).toMatchObject({ status: 'DRAFT', wordCount: 0 });
  expect((await run.describe()).status.name).toBe('TERMINATED');
});

it('a run that an operator cancels ends its job CANCELLED by itself', async () => {
  let asked = 0;
  provider.behave = (signal) => {
    asked += 1;
    return hang(signal);
  };
  const { job } = await calls.translate(workspace, 300);
  await eventually(
    async () => asked,
    (count) => count > 0,
  );
  await operator.client.workflow.getHandle(translationWorkflowId(job.id as JobId)).cancel();
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'CANCELLED', errorCode: null });
  expect(await operator.closed(translationWorkflowId(job.id as JobId))).toBe('CANCELLED');
  expect(await calls.readWallet(workspace)).toEqual(untouched);
});

it('an open hold whose job has ended, as a restored backup may hold one, is released once', async () => {
  const { job } = await calls.translate(workspace, 300);
  await calls.untilFinal(workspace, job.id);
  await service.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('holds')
      .set({ status: 'open', settled_amount: null, ended_at: null })
      .where('run_id', '=', job.id)
      .execute();
    await tx.updateTable('wallets').set({ reserved: 1 }).where('workspace_id', '=', workspace.id).execute();
  });
  await reconcile();
  await eventually(
    () => calls.readWallet(workspace),
    (wallet) => wallet.reserved === 0,
  );
  await reconcile();
  expect(await calls.readWallet(workspace)).toEqual({ balance: 9, reserved: 0, available: 9 });
});

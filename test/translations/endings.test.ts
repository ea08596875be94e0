import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { planSegments } from '../../src/translations/plan.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { listenToAll } from '../support/events.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { hang, useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, provider, workspace, calls } = useTranslations();

let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
});

/** The engine answers one call, and does something else with all others. */
function firstThen(behave: (signal: AbortSignal) => Promise<void>) {
  let asked = 0;
  return async (signal: AbortSignal) => {
    asked += 1;
    if (asked > 1) await behave(signal);
  };
}

const untilProgress = (jobId: string) =>
  eventually(
    () => calls.readJob(workspace, jobId),
    ({ progress }) => progress > 0,
  );

describe('a translation', () => {
  it('is written, charged once, and announced with a valid signature', async () => {
    const registered = await service.call(workspace.key, 'POST', `/api/workspaces/${workspace.id}/webhooks`, {
      url: receiver.url,
      events: ['article.created'],
    });
    expect(registered.status).toBe(201);
    const { source, article, job } = await calls.translate(workspace);
    const done = await calls.untilFinal(workspace, job.id);
    expect(done).toMatchObject({
      status: 'COMPLETED',
      currentStep: 'finalize',
      progress: 100,
      estimatedCredits: 2,
      reservedCredits: 2,
      consumedCredits: 2,
      errorCode: null,
      errorMessage: null,
    });
    const translated = await calls.readArticle(workspace, article.id);
    expect(translated.status).toBe('NEEDS_REVIEW');
    expect(translated.title).not.toBe(source.title);
    expect(translated.documentJson.blocks.map((block) => block.id)).toEqual(
      source.document.blocks.map((block) => block.id),
    );
    expect(await calls.readWallet(workspace)).toEqual({ balance: 8, reserved: 0, available: 8 });
    const ledger = await service.db
      .selectFrom('ledger_entries')
      .select(['kind', 'amount'])
      .where('workspace_id', '=', workspace.id)
      .orderBy('id')
      .execute();
    expect(ledger).toEqual([
      { kind: 'grant', amount: 10 },
      { kind: 'settlement', amount: -2 },
    ]);

    const [delivery] = await eventually(
      async () => receiver.received.filter((entry) => entry.body.data.articleId === article.id),
      (entries) => entries.length > 0,
    );
    if (delivery === undefined) throw new Error('nothing received');
    expect(delivery.body).toEqual({
      event: 'article.created',
      data: { articleId: article.id, projectId: article.projectId, title: source.title },
    });
    expect(verifyWebhook(delivery.raw, delivery.headers, registered.body.secret)).toMatchObject({
      event: 'article.created',
    });
    const listed = await eventually(
      async () => (await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/webhooks`)).body,
      (body) => body.deliveries[0]?.status === 'succeeded',
    );
    expect(listed.deliveries).toEqual([
      {
        id: delivery.headers['x-service-delivery'],
        endpointId: registered.body.endpoint.id,
        eventType: 'article.created',
        status: 'succeeded',
        attempts: 1,
        responseStatus: 204,
        errorMessage: null,
        deliveredAt: expect.any(String),
        createdAt: expect.any(String),
      },
    ]);
  });

  // contract.md E10
  it('emits article.created only, and no event that belongs to generations', async () => {
    await listenToAll(service.db, workspace.id);
    const { job } = await calls.translate(workspace);
    await calls.untilFinal(workspace, job.id);
    const events = await service.db
      .selectFrom('events')
      .select('type')
      .where('workspace_id', '=', workspace.id)
      .where('type', 'not like', 'credits.granted')
      .execute();
    expect(events.map((event) => event.type)).toEqual(['article.created']);
  });
});

describe('a failed translation', () => {
  async function fail() {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    provider.behave = firstThen(async () => {
      await gate;
      throw new ProviderError('fatal', 'The engine does not know this language pair.');
    });
    await listenToAll(service.db, workspace.id);
    const { source, article, job } = await calls.translate(workspace, 1200, 'will-fail-1');
    const { progress } = await untilProgress(job.id);
    release();
    const failed = await calls.untilFinal(workspace, job.id);
    provider.behave = async () => undefined;
    return { path: `/api/articles/${source.id}/translations`, article, failed, progress };
  }

  // contract.md J4
  it('ends FAILED with a message, its progress kept, an empty draft and its credits back', async () => {
    const { article, failed, progress } = await fail();
    expect(failed).toMatchObject({
      status: 'FAILED',
      progress,
      consumedCredits: 0,
      errorCode: 'TRANSLATION_FAILED',
      errorMessage: 'The engine does not know this language pair.',
    });
    expect(progress).toBeLessThan(100);
    expect(await calls.readArticle(workspace, article.id)).toMatchObject({
      status: 'DRAFT',
      documentJson: { version: 1, blocks: [] },
      wordCount: 0,
    });
    expect(await calls.readWallet(workspace)).toEqual({ balance: 10, reserved: 0, available: 10 });
  });

  it('is what its idempotency key is answered with from then on', async () => {
    const { path, article, failed } = await fail();
    const replay = await service.call(workspace.key, 'POST', path, {
      language: 'es',
      idempotencyKey: 'will-fail-1',
    });
    expect(replay.status).toBe(200);
    const draft = await calls.readArticle(workspace, article.id);
    expect(replay.body).toEqual({ article: draft, job: failed, estimate: null, reused: true });
  });

  // contract.md T14
  it('leaves a draft that the next request fills, announced once', async () => {
    const { path, article } = await fail();
    const again = await service.call(workspace.key, 'POST', path, { language: 'es' });
    expect(again.status).toBe(202);
    expect(again.body.article.id).toBe(article.id);
    expect(await calls.untilFinal(workspace, again.body.job.id)).toMatchObject({ status: 'COMPLETED' });
    const events = await service.db
      .selectFrom('events')
      .select('id')
      .where('workspace_id', '=', workspace.id)
      .where('type', '=', 'article.created')
      .execute();
    expect(events).toHaveLength(1);
  });

  it('is retried while the provider says that it may pass', async () => {
    let failures = 2;
    provider.behave = async () => {
      failures -= 1;
      if (failures >= 0) throw new ProviderError('retryable', 'busy', { retryAfterMs: 50 });
    };
    const { job } = await calls.translate(workspace, 300);
    expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'COMPLETED' });
  });
});

describe('cancelling', () => {
  // contract.md J2
  it('a running job: 202, CANCELLED with its progress kept, an empty draft, credits back, the call to the provider given up', async () => {
    let asked = 0;
    let given = 0;
    provider.behave = firstThen(async (signal) => {
      asked += 1;
      try {
        await hang(signal);
      } finally {
        given += 1;
      }
    });
    const { article, job } = await calls.translate(workspace);
    await eventually(
      async () => asked,
      (count) => count > 0,
    );
    const { progress } = await untilProgress(job.id);
    expect(progress).toBeLessThan(100);
    const response = await calls.cancel(workspace, job.id);
    expect(response.status).toBe(202);
    const cancelled = { status: 'CANCELLED', progress, consumedCredits: 0, errorCode: null };
    expect(response.body.job).toMatchObject(cancelled);
    expect(await calls.readArticle(workspace, article.id)).toMatchObject({ status: 'DRAFT', wordCount: 0 });
    expect(await calls.readWallet(workspace)).toEqual({ balance: 10, reserved: 0, available: 10 });
    await eventually(
      async () => given,
      (count) => count > 0,
    );
    expect(await calls.readJob(workspace, job.id)).toMatchObject(cancelled);
    expect((await calls.cancel(workspace, job.id)).body).toMatchObject({ status: 409, code: 'CONFLICT' });
  });

  it('a finished job: 409, and nothing changes', async () => {
    const { job } = await calls.translate(workspace);
    const done = await calls.untilFinal(workspace, job.id);
    expect((await calls.cancel(workspace, job.id)).status).toBe(409);
    expect(await calls.readJob(workspace, job.id)).toEqual(done);
    expect(await calls.readWallet(workspace)).toEqual({ balance: 8, reserved: 0, available: 8 });
  });

  it('a queued job, with no worker there: its plan is dropped, and it stays cancelled when one comes back', async () => {
    await service.stopWorkers();
    const { article, job } = await calls.translate(workspace);
    expect((await calls.cancel(workspace, job.id)).status).toBe(202);
    expect(await calls.readJob(workspace, job.id)).toMatchObject({
      status: 'CANCELLED',
      progress: 0,
      currentStep: null,
    });
    const { snapshot } = await service.db
      .selectFrom('translations')
      .select('snapshot')
      .where('job_id', '=', job.id as JobId)
      .executeTakeFirstOrThrow();
    expect(snapshot).toBeNull();
    expect(await planSegments(service.db, job.id as JobId, provider)).toBeNull();
    const report = await service.call(workspace.key, 'GET', `/api/jobs/${job.id}/report`);
    expect([report.status, report.body.report.texts.total]).toEqual([200, 0]);
    await service.startWorker({ provider });
    const next = await calls.translate(workspace);
    await calls.untilFinal(workspace, next.job.id);
    expect(await calls.readJob(workspace, job.id)).toMatchObject({ status: 'CANCELLED' });
    expect(await calls.readArticle(workspace, article.id)).toMatchObject({ status: 'DRAFT' });
    expect(await calls.readWallet(workspace)).toEqual({ balance: 8, reserved: 0, available: 8 });
  });
});

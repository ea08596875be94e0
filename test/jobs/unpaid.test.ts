import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { inTransaction } from '../../src/db/transaction.ts';
import type { ArticleId, JobId } from '../../src/ids.ts';
import { endJob } from '../../src/jobs/end.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { translateBatch } from '../../src/translations/batch.ts';
import { createArticle } from '../support/articles.ts';
import type { TestWorkspace } from '../support/service.ts';
import { createStandIn, forBody, hang, useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';
import { untilWaiting } from '../translations/support/locks.ts';

const { service, provider, workspace, calls } = useTranslations({
  credits: 100,
  env: { UNBILLED_LIMIT_WORDS: '5000' },
});

/** Asks for the translation of a new short article, and waits for what is accepted. */
async function ask(by: TestWorkspace = workspace) {
  const source = await createArticle(service.db, by, await service.project(by));
  const path = `/api/articles/${source.id}/translations`;
  const answer = await service.call(by.key, 'POST', path, { language: 'es' });
  if (answer.status === 202) await calls.untilFinal(by, answer.body.job.id);
  return answer;
}

const unpaid = async (): Promise<number> => {
  const rows = await service.db
    .selectFrom('unpaid_work')
    .select('words')
    .where('workspace_id', '=', workspace.id)
    .execute();
  return rows.reduce((sum, { words }) => sum + words, 0);
};

/** Has the title and one batch made, and four more asked for, of eight; `end` ends it. */
async function madeThen(
  end: (jobId: JobId) => Promise<unknown>,
): Promise<{ articleId: ArticleId; asked: number }> {
  let calling = 0;
  provider.behave = forBody(async (signal) => {
    calling += 1;
    if (calling > 1) await hang(signal);
  });
  const { article, job } = await calls.translate(workspace, 3_000);
  await eventually(
    async () => calling,
    (count) => count === 5,
  );
  const batches = await service.db
    .selectFrom('translation_segments')
    .select((eb) => [eb.fn.sum<number | string>('words').as('words'), eb.fn.min('kind').as('kind')])
    .where('job_id', '=', job.id as JobId)
    .where('from_memory', 'is', null)
    .groupBy('batch')
    .orderBy('batch')
    .execute();
  // The title's, unless it comes from the memory, and five of the body in their order.
  const asked = batches.slice(0, batches[0]?.kind === 'title' ? 6 : 5);
  await end(job.id as JobId);
  await calls.untilFinal(workspace, job.id);
  provider.behave = async () => undefined;
  return {
    articleId: article.id as ArticleId,
    asked: asked.reduce((sum, { words }) => sum + Number(words), 0),
  };
}

// contract.md J9
it('words made for cancelled runs, and those being made, are counted for a day, and above the limit a new run is 429 with Retry-After', async () => {
  const cancel = (jobId: JobId) => calls.cancel(workspace, jobId);
  let asked = 0;
  for (let run = 0; run < 2; run += 1) {
    asked += (await madeThen(cancel)).asked;
    expect(await unpaid()).toBe(asked);
    expect((await ask()).status).toBe(202);
  }
  const last = await madeThen(cancel);
  asked += last.asked;
  expect([asked > 5_000, await unpaid()]).toEqual([true, asked]);
  // Deleting what was cancelled does not make it paid.
  expect((await service.call(workspace.key, 'DELETE', `/api/articles/${last.articleId}`)).status).toBe(200);
  const wallet = await calls.readWallet(workspace);
  const refused = await ask();
  expect([refused.status, refused.body.code, refused.body.details]).toEqual([
    429,
    'QUOTA_EXCEEDED',
    { reason: 'cancelled_work' },
  ]);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(86_000);
  expect(seconds).toBeLessThanOrEqual(86_400);
  expect(await calls.readWallet(workspace)).toEqual(wallet);
  expect((await ask(await service.workspace(10))).status).toBe(202);

  await sql`UPDATE unpaid_work SET created_at = now() - interval '86395 seconds'
    WHERE workspace_id = ${workspace.id} AND job_id = (
      SELECT job_id FROM unpaid_work WHERE workspace_id = ${workspace.id} ORDER BY created_at LIMIT 1)`.execute(
    service.db,
  );
  expect((await ask()).headers.get('retry-after')).toMatch(/^[1-5]$/);
  await sql`UPDATE unpaid_work SET created_at = created_at - interval '10 seconds'
    WHERE workspace_id = ${workspace.id}`.execute(service.db);
  expect((await ask()).status).toBe(202);
});

it('no engine gets a batch after the end of its job, also when that has not committed yet', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  onTestFinished(() => answer());
  let calling = 0;
  provider.behave = forBody(() => {
    calling += 1;
    return answered;
  });
  const { job } = await calls.translate(workspace, 3_000);
  await eventually(
    async () => calling,
    (count) => count === 4,
  );
  const jobId = job.id as JobId;
  const engine = createStandIn();
  let asked = 0;
  engine.behave = async () => {
    asked += 1;
  };
  const { made } = await inTransaction(service.db, async (tx) => {
    expect(await endJob(tx, jobId, { status: 'CANCELLED', onLeftOver: () => undefined })).not.toBeNull();
    const input = { jobId, batch: 7, signal: new AbortController().signal };
    const batch = translateBatch({ db: service.db, provider: engine }, input);
    await Promise.race([batch, untilWaiting(service.db, 1)]);
    return { made: batch };
  });
  expect([await made, asked]).toEqual([0, 0]);
});

it('of a cancelled run, calls that the engine had refused do not count', async () => {
  let calling = 0;
  provider.behave = forBody(async () => {
    calling += 1;
    if (calling > 1) throw new ProviderError('retryable', 'busy', { retryAfterMs: 60_000 });
  });
  const { job } = await calls.translate(workspace, 3_000);
  const marked = await eventually(
    async () => {
      const { asked_batches } = await service.db
        .selectFrom('translations')
        .select('asked_batches')
        .where('job_id', '=', job.id as JobId)
        .executeTakeFirstOrThrow();
      return asked_batches;
    },
    (batches) => calling === 5 && batches.length === 2,
  );
  const { words } = await service.db
    .selectFrom('translation_segments')
    .select((eb) => eb.fn.sum<number | string>('words').as('words'))
    .where('job_id', '=', job.id as JobId)
    .where('batch', 'in', marked)
    .executeTakeFirstOrThrow();
  await calls.cancel(workspace, job.id);
  expect(await unpaid()).toBe(Number(words));
});

it('of a cancelled run, texts that the engine had declined do not count', async () => {
  let asked = 0;
  provider.behave = forBody(async (signal) => {
    asked += 1;
    if (asked > 2) await hang(signal);
    throw new ProviderError('refused', 'No.');
  });
  // Two texts are declined together, and then the first alone.
  const { job } = await calls.translate(workspace, 100);
  await eventually(
    async () => asked,
    (count) => count === 3,
  );
  await calls.cancel(workspace, job.id);
  expect(await unpaid()).toBe(54);
});

// contract.md J9
it('words made for a refresh count when its version is deleted meanwhile', async () => {
  const { version } = await calls.outdated(workspace, 1_000);
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  onTestFinished(() => answer());
  let calling = 0;
  provider.behave = () => {
    calling += 1;
    return answered;
  };
  const { id } = await calls.refresh(workspace, version.id);
  await eventually(
    async () => calling,
    (count) => count > 0,
  );
  expect((await service.call(workspace.key, 'DELETE', `/api/articles/${version.id}`)).status).toBe(200);
  expect(await calls.readJob(workspace, id)).toBeUndefined();
  expect(await unpaid()).toBeGreaterThan(100);
});

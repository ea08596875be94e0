import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { ArticleId, JobId } from '../../src/ids.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { createArticle } from '../support/articles.ts';
import type { TestWorkspace } from '../support/service.ts';
import { hang, useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, provider, workspace, calls } = useTranslations({
  credits: 100,
  env: { UNBILLED_LIMIT_WORDS: '900' },
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

/** Has 350 to 450 words made, then hangs; `end` ends it. */
async function madeThen(
  end: (jobId: JobId) => Promise<unknown>,
): Promise<{ articleId: ArticleId; made: number }> {
  let answered = 0;
  provider.behave = async (signal) => {
    answered += 1;
    if (answered > 1) await hang(signal);
  };
  const { article, job } = await calls.translate(workspace, 1_500);
  const made = await eventually(
    async () => {
      const row = await service.db
        .selectFrom('translation_segments')
        .select((eb) => eb.fn.sum<string | null>('words').as('words'))
        .where('job_id', '=', job.id as JobId)
        .where('target_text', 'is not', null)
        .executeTakeFirstOrThrow();
      return Number(row.words ?? 0);
    },
    (words) => words > 300,
  );
  await end(job.id as JobId);
  await calls.untilFinal(workspace, job.id);
  provider.behave = async () => undefined;
  return { articleId: article.id as ArticleId, made };
}

it('words made for cancelled runs are counted for a day, and above the limit a new run is 429 with Retry-After', async () => {
  const cancel = (jobId: JobId) => calls.cancel(workspace, jobId);
  let made = 0;
  for (let run = 0; run < 2; run += 1) {
    made += (await madeThen(cancel)).made;
    expect(await unpaid()).toBe(made);
    expect((await ask()).status).toBe(202);
  }
  const last = await madeThen(cancel);
  made += last.made;
  expect([made > 900, await unpaid()]).toEqual([true, made]);
  // Deleting what was cancelled does not make it paid.
  expect((await service.call(workspace.key, 'DELETE', `/api/articles/${last.articleId}`)).status).toBe(200);
  const wallet = await calls.readWallet(workspace);
  const refused = await ask();
  expect([refused.status, refused.body.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(86_000);
  expect(seconds).toBeLessThanOrEqual(86_400);
  expect(await calls.readWallet(workspace)).toEqual(wallet);
  expect((await ask(await service.workspace(10))).status).toBe(202);

  await sql`UPDATE unpaid_work SET created_at = created_at - interval '86395 seconds'
    WHERE workspace_id = ${workspace.id} AND job_id = (
      SELECT job_id FROM unpaid_work WHERE workspace_id = ${workspace.id} ORDER BY created_at LIMIT 1)`.execute(
    service.db,
  );
  expect((await ask()).headers.get('retry-after')).toMatch(/^[1-5]$/);
  await sql`UPDATE unpaid_work SET created_at = created_at - interval '10 seconds'
    WHERE workspace_id = ${workspace.id}`.execute(service.db);
  expect((await ask()).status).toBe(202);
});

it('what failed on its own does not count', async () => {
  let answered = 0;
  provider.behave = async () => {
    answered += 1;
    if (answered > 1) throw new ProviderError('fatal', 'No.');
  };
  const { job } = await calls.translate(workspace, 1_500);
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'FAILED' });
  expect([answered > 1, await unpaid()]).toEqual([true, 0]);
});

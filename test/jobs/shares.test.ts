import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import { createArticle, longDocument } from '../support/articles.ts';
import type { TestWorkspace } from '../support/service.ts';
import { useTranslations } from '../support/translating.ts';

const { service, provider, calls } = useTranslations();

/** Asks for the translation of an article of three batches, and waits until it is there. */
async function translateOne(workspace: TestWorkspace): Promise<void> {
  const { job } = await calls.translate(workspace, 1_000);
  expect((await calls.untilFinal(workspace, job.id)).status).toBe('COMPLETED');
}

it('the only job of a workspace passes the sixty of another, of which eight are under way at once', async () => {
  const one = await service.workspace(1_000);
  const many = await service.workspace(1_000);
  provider.behave = (signal) => sleep(1_000, undefined, { signal });

  const projectId = await service.project(many);
  const jobs: JobId[] = [];
  for (let each = 0; each < 60; each += 1) {
    const source = await createArticle(service.db, many, projectId, { document: longDocument(1_000) });
    const path = `/api/articles/${source.id}/translations`;
    const { status, body } = await service.call(many.key, 'POST', path, { language: 'es' });
    expect(status).toBe(202);
    jobs.push(body.job.id);
  }
  let most = 0;
  const watching = new AbortController();
  const watched = (async () => {
    while (!watching.signal.aborted) {
      const { count } = await service.db
        .selectFrom('jobs')
        .select((eb) => eb.fn.countAll<string>().as('count'))
        .where('workspace_id', '=', many.id)
        .where('ended_at', 'is', null)
        .where('status', '<>', 'QUEUED')
        .executeTakeFirstOrThrow();
      most = Math.max(most, Number(count));
      await sleep(50);
    }
  })();
  await translateOne(one);
  watching.abort();
  await watched;
  expect(most).toBe(8);
  const statuses = await Promise.all(jobs.map((id) => calls.readJob(many, id).then(({ status }) => status)));
  // In the order of asking, all sixty would have come before.
  expect(statuses.filter((status) => status === 'COMPLETED').length).toBeLessThan(40);
  for (const id of jobs) await calls.cancel(many, id);
});

it('a job that waits for its turn is cancelled at once, and its run ends', async () => {
  const many = await service.workspace(1_000);
  provider.behave = (signal) => sleep(5_000, undefined, { signal });
  const asked = [];
  for (let each = 0; each < 9; each += 1) asked.push(await calls.translate(many, 100));
  await sleep(1_500);
  const statuses = await Promise.all(asked.map(({ job }) => calls.readJob(many, job.id)));
  const waits = statuses.find(({ status }) => status === 'QUEUED');
  if (waits === undefined) throw new Error('none waits');
  expect(statuses.filter(({ status }) => status === 'TRANSLATING')).toHaveLength(8);
  expect((await calls.cancel(many, waits.id)).status).toBe(202);
  expect(await calls.readArticle(many, waits.articleId)).toMatchObject({ status: 'DRAFT' });
  await Promise.all(asked.map(({ job }) => calls.cancel(many, job.id)));
  expect(await calls.readWallet(many)).toMatchObject({ reserved: 0 });
});

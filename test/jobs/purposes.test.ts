import { beforeEach, describe, expect, it } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import { openHold, releaseHold, reserveCredits } from '../../src/credits/holds.ts';
import { reserveBytes } from '../../src/credits/storage-quota.ts';
import type { ArticleStatus, JobPurpose } from '../../src/db/tables.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import type { JobId, ProjectId } from '../../src/ids.ts';
import { endJob } from '../../src/jobs/end.ts';
import { type FirstStep, PURPOSES } from '../../src/jobs/purposes.ts';
import { lockArticleOf, settleJob, takeOver as takeOverIn } from '../../src/jobs/run-state.ts';
import { takeTurn } from '../../src/jobs/turns.ts';
import { documentOf, type Editing, editing, paragraph } from '../articles/support.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { untilWaiting } from '../translations/support/locks.ts';

const service = useTestService();
const takeOver = (jobId: JobId, first: FirstStep) =>
  inTransaction(service.db, (tx) => takeOverIn(tx, jobId, first));
const OWNERS = ['translate', 'generate', 'outline'] as const satisfies readonly JobPurpose[];
/** They own nothing. */
const GUESTS = ['refresh', 'image'] as const satisfies readonly JobPurpose[];
const ALL: readonly JobPurpose[] = [...OWNERS, ...GUESTS];

let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;

beforeEach(async () => {
  workspace = await service.workspace(10);
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});

/** An article with a paragraph, and an open job on it that holds 3 credits and 100 bytes. */
async function withJob(
  purpose: JobPurpose,
  status: ArticleStatus,
): Promise<{ article: Article; jobId: JobId }> {
  const article = await editor.create(projectId, { documentJson: documentOf(paragraph('Some words.')) });
  const jobId = await editor.openJob(article, purpose);
  await inTransaction(service.db, async (tx) => {
    await tx
      .updateTable('jobs')
      .set({ estimated_credits: 3, reserved_credits: 3, held_bytes: 100 })
      .where('id', '=', jobId)
      .execute();
    await openHold(tx, {
      workspaceId: workspace.id,
      purpose: PURPOSES[purpose].hold,
      runId: jobId,
      amount: 3,
    });
    expect(await reserveBytes(tx, workspace.id, 100)).toBe(true);
    expect(await reserveCredits(tx, workspace.id, 3)).toBe(true);
  });
  await editor.setStatus(article.id, status);
  return { article, jobId };
}

const jobOf = (id: JobId) =>
  service.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
const wallet = async () =>
  (await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/wallet`)).body.wallet;
const left = async () => ({ ...(await wallet()), bytes: await editor.storageUsed() });
const UNTOUCHED = { balance: 10, reserved: 0, available: 10, bytes: 0 };
const cancel = (id: JobId) => service.call(workspace.key, 'POST', `/api/jobs/${id}/cancel`);
const fail = (id: JobId) =>
  inTransaction(service.db, (tx) =>
    endJob(tx, id, { status: 'FAILED', errorMessage: 'It failed.', onLeftOver: () => undefined }),
  );

describe('a job owns its article by its purpose', () => {
  it.each(OWNERS)(
    '%s: while it is open, nothing else edits, moves or deletes the article',
    async (purpose) => {
      const { article } = await withJob(purpose, 'DRAFT');
      for (const answer of [
        await editor.patch(article.id, { metaTitle: 'New' }),
        await editor.submit(article.id),
        await editor.remove(article.id),
      ]) {
        expect([answer.status, answer.body.details?.reason]).toEqual([409, 'job_running']);
      }
    },
  );

  // contract.md G116
  it.each(GUESTS)(
    '%s: it does not block saving, reviewing, publishing, unpublishing and translating',
    async (guest) => {
      const { article, jobId } = await withJob(guest, 'DRAFT');
      const translated = await service.call(
        workspace.key,
        'POST',
        `/api/articles/${article.id}/translations`,
        {
          language: 'es',
        },
      );
      expect(translated.status).toBe(202);
      for (const done of [
        await editor.patch(article.id, { metaTitle: 'New' }),
        await editor.submit(article.id),
        await editor.review(article.id, 'approved'),
        await editor.publish(article.id),
        await editor.unpublish(article.id),
      ]) {
        expect([200, 201]).toContain(done.status);
      }
      expect(await jobOf(jobId)).toMatchObject({ status: 'QUEUED' });
    },
  );

  it.each(GUESTS)('%s: deleting the article gives back at once what it held', async (guest) => {
    const { article, jobId } = await withJob(guest, 'PUBLISHED');
    expect(await left()).toEqual({ balance: 10, reserved: 3, available: 7, bytes: 100 });
    expect((await editor.remove(article.id)).status).toBe(200);
    expect(await left()).toEqual(UNTOUCHED);
    expect(await jobOf(jobId)).toBeUndefined();
    expect(await fail(jobId)).toBeNull();
    expect(await left()).toEqual(UNTOUCHED);
  });

  it('refresh: one is open on a version at a time', async () => {
    const { article, jobId } = await withJob('refresh', 'DRAFT');
    await expect(editor.openJob(article, 'refresh')).rejects.toThrow('jobs_refresh_key');
    await cancel(jobId);
    await editor.openJob(article, 'refresh');
  });

  it.each(['generate', 'outline'] as const)(
    '%s: a source that it works on is not translated yet',
    async (purpose) => {
      const { article } = await withJob(purpose, 'DRAFT');
      const path = `/api/articles/${article.id}/translations`;
      const answer = await service.call(workspace.key, 'POST', path, { language: 'es' });
      expect([answer.status, answer.body.details?.reason]).toEqual([409, 'generation_running']);
    },
  );
});

describe('a job that ends without a result', () => {
  it.each(ALL)(
    '%s: gives all back once, whether it is cancelled or fails, and never twice',
    async (purpose) => {
      for (const end of [cancel, fail]) {
        const { jobId } = await withJob(purpose, 'PROCESSING');
        await withJob(purpose, 'PROCESSING');
        await end(jobId);
        const once = { balance: 10, reserved: 3, available: 7, bytes: 100 };
        expect(await left()).toEqual(once);
        const ended = await jobOf(jobId);
        expect((await cancel(jobId)).status).toBe(409);
        expect(await fail(jobId)).toBeNull();
        expect([await left(), await jobOf(jobId)]).toEqual([once, ended]);
        workspace = await service.workspace(10);
        projectId = await service.project(workspace);
        editor = editing(service, workspace);
      }
    },
  );

  it('translate leaves the empty draft it began as; generate and outline leave a draft as it is; the others nothing', async () => {
    const before = documentOf(paragraph('Some words.'));
    const becomes = async (purpose: JobPurpose, from: ArticleStatus) => {
      const { article, jobId } = await withJob(purpose, from);
      expect((await cancel(jobId)).status).toBe(202);
      const { status, documentJson } = await editor.read(article.id);
      await service.db.deleteFrom('articles').where('slug', '=', article.slug).execute();
      return [status, documentJson];
    };
    expect(await becomes('translate', 'PROCESSING')).toEqual(['DRAFT', documentOf()]);
    for (const purpose of ['generate', 'outline'] as const) {
      expect(await becomes(purpose, 'QUEUED')).toEqual(['DRAFT', before]);
    }
    for (const guest of GUESTS) {
      expect(await becomes(guest, 'PUBLISHED')).toEqual(['PUBLISHED', before]);
      // Another job's article is not theirs to free.
      expect(await becomes(guest, 'PROCESSING')).toEqual(['PROCESSING', before]);
    }
    // An article that is nobody's at that moment is left alone by every end.
    for (const purpose of ALL) expect(await becomes(purpose, 'APPROVED')).toEqual(['APPROVED', before]);
  });

  it.each([
    ['translate', 'TRANSLATION_FAILED'],
    ['refresh', 'TRANSLATION_FAILED'],
    ['generate', 'GENERATION_FAILED'],
    ['image', 'GENERATION_FAILED'],
    ['outline', 'GENERATION_FAILED'],
  ] as const)('%s fails as %s', async (purpose, code) => {
    const { jobId } = await withJob(purpose, 'PROCESSING');
    await fail(jobId);
    expect(await jobOf(jobId)).toMatchObject({ error_code: code, error_message: 'It failed.' });
  });
});

describe('an open job without an open hold', () => {
  const first = { status: 'TRANSLATING', step: 'translate' } as const;

  it('is not taken over: nothing unpaid is requested', async () => {
    const { article, jobId } = await withJob('translate', 'QUEUED');
    await inTransaction(service.db, (tx) => releaseHold(tx, jobId));
    await expect(takeOver(jobId, first)).rejects.toThrow('without a hold');
    expect(await jobOf(jobId)).toMatchObject({ status: 'QUEUED' });
    expect(await editor.read(article.id)).toMatchObject({ status: 'QUEUED' });
  });

  it('is not settled: nothing that it made is kept', async () => {
    const { jobId } = await withJob('translate', 'QUEUED');
    await takeOver(jobId, first);
    await inTransaction(service.db, (tx) => releaseHold(tx, jobId));
    const settled = inTransaction(service.db, (tx) =>
      settleJob(tx, jobId, 'TRANSLATING', async () => ({ bytesLeft: 0 })),
    );
    await expect(settled).rejects.toThrow('without a hold');
    expect(await jobOf(jobId)).toMatchObject({ status: 'TRANSLATING', consumed_credits: 0 });
    expect(await left()).toEqual({ ...UNTOUCHED, bytes: 100 });
  });
});

it('a job that has ended is neither taken over nor settled, and one that was not taken over is not settled', async () => {
  const first = { status: 'TRANSLATING', step: 'translate' } as const;
  let written = 0;
  const settle = (id: JobId) =>
    inTransaction(service.db, (tx) =>
      settleJob(tx, id, 'TRANSLATING', async () => {
        written += 1;
        return { bytesLeft: 0 };
      }),
    );
  const { article, jobId } = await withJob('translate', 'QUEUED');
  expect(await settle(jobId)).toBe(false);
  await cancel(jobId);
  const after = [await jobOf(jobId), await left(), await editor.read(article.id)];
  expect([await takeOver(jobId, first), await settle(jobId)]).toEqual([false, false]);
  expect([await jobOf(jobId), await left(), await editor.read(article.id)]).toEqual(after);
  expect(written).toBe(0);
});

describe('a result is charged what it costs', () => {
  const settle = (id: JobId, credits?: number) =>
    inTransaction(service.db, (tx) =>
      settleJob(tx, id, 'TRANSLATING', async () => ({
        bytesLeft: 40,
        ...(credits === undefined ? {} : { credits }),
      })),
    );
  const started = async () => {
    const { jobId } = await withJob('refresh', 'PUBLISHED');
    await takeOver(jobId, { status: 'TRANSLATING', step: 'translate' });
    return jobId;
  };
  const charges = async () =>
    (await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/ledger`)).body.entries
      .filter(({ kind }: { kind: string }) => kind === 'settlement')
      .map(({ amount, purpose, runId }: Record<string, unknown>) => ({ amount, purpose, runId }));

  it.each([
    ['all', undefined, 3],
    ['all, when it is said', 3, 3],
    ['a part', 1, 1],
    ['nothing', 0, 0],
  ] as const)('%s of what was held, and the rest is free again', async (_, credits, charged) => {
    const runId = await started();
    expect(await settle(runId, credits)).toBe(true);
    const balance = 10 - charged;
    expect(await left()).toEqual({ balance, reserved: 0, available: balance, bytes: 60 });
    expect(await jobOf(runId)).toMatchObject({
      status: 'COMPLETED',
      reserved_credits: 3,
      consumed_credits: charged,
    });
    expect(await charges()).toEqual(charged === 0 ? [] : [{ amount: -charged, purpose: 'refresh', runId }]);
    // A second end charges and frees nothing.
    expect([await settle(runId, 3), await fail(runId)]).toEqual([false, null]);
    expect((await wallet()).balance).toBe(balance);
  });

  it.each([4, -1])('never %i of 3: nothing of it happens then', async (credits) => {
    const runId = await started();
    const before = await jobOf(runId);
    await expect(settle(runId, credits)).rejects.toThrow('check constraint');
    expect(await left()).toEqual({ balance: 10, reserved: 3, available: 7, bytes: 100 });
    expect([await jobOf(runId), await charges()]).toEqual([before, []]);
  });
});

it('of many jobs that request their turn at once eight get it, repeat the request as they like, and pass it on', async () => {
  const take = (id: JobId) =>
    takeTurn(service.db, id, { unbilledLimit: 0, engineSlots: 100 }, () => undefined);
  const moveIn = async (credits: number) => {
    workspace = await service.workspace(credits);
    projectId = await service.project(workspace);
    editor = editing(service, workspace);
  };
  await moveIn(100);
  const jobs: JobId[] = [];
  for (let each = 0; each < 12; each += 1) jobs.push((await withJob('translate', 'QUEUED')).jobId);
  const turns = await Promise.all(jobs.map(take));
  const [first, ...others] = jobs.filter((_, index) => turns[index]?.outcome === 'taken');
  const [next, ...rest] = jobs.filter((_, index) => turns[index]?.outcome === 'wait');
  if (first === undefined || next === undefined) throw new Error('none is let in, or none waits');
  expect([others.length, rest.length]).toEqual([7, 3]);
  expect(await Promise.all(others.map(take))).toEqual(Array(7).fill({ outcome: 'taken' }));
  await cancel(first);
  expect([await take(first), await take(next)]).toEqual([{ outcome: 'ended' }, { outcome: 'taken' }]);
  await moveIn(10);
  expect(await take((await withJob('translate', 'QUEUED')).jobId)).toEqual({ outcome: 'taken' });
});

// contract.md J18
it('while another workspace has jobs under way, the calls of one are a third of those that a worker may make', async () => {
  const taken = async (slots: number): Promise<number> => {
    workspace = await service.workspace(100);
    projectId = await service.project(workspace);
    editor = editing(service, workspace);
    const jobs: JobId[] = [];
    for (let each = 0; each < 9; each += 1) jobs.push((await withJob('translate', 'QUEUED')).jobId);
    const turns = await Promise.all(
      jobs.map((id) => takeTurn(service.db, id, { unbilledLimit: 0, engineSlots: slots }, () => undefined)),
    );
    return turns.filter(({ outcome }) => outcome === 'taken').length;
  };
  await service.db
    .updateTable('jobs')
    .set({ status: 'CANCELLED', ended_at: new Date() })
    .where('ended_at', 'is', null)
    .execute();
  // Nobody else has any, so these may make all calls.
  expect(await taken(24)).toBe(8);
  // Each job makes four calls at once.
  expect(await taken(24)).toBe(2);
  expect(await taken(3)).toBe(1);
  expect(await taken(96)).toBe(8);
});

it('a take-over and an end that meet wait for each other, in one order', async () => {
  const { article, jobId } = await withJob('translate', 'QUEUED');
  const taking = await inTransaction(service.db, async (tx) => {
    await lockArticleOf(tx, jobId);
    const takes = takeOver(jobId, { status: 'TRANSLATING', step: 'translate' });
    await untilWaiting(service.db, 1);
    const end = { status: 'CANCELLED', onLeftOver: () => undefined } as const;
    expect(await endJob(tx, jobId, end)).not.toBeNull();
    return { takes };
  });
  expect(await taking.takes).toBe(false);
  expect(await editor.read(article.id)).toMatchObject({ status: 'DRAFT' });
  expect(await left()).toEqual(UNTOUCHED);
});

it('a take-over moves an article that waits for it, and no other', async () => {
  for (const [from, to] of [
    ['QUEUED', 'PROCESSING'],
    ['PUBLISHED', 'PUBLISHED'],
  ] as const) {
    const { article, jobId } = await withJob('translate', from);
    expect(await takeOver(jobId, { status: 'TRANSLATING', step: 'translate' })).toBe(true);
    expect(await editor.read(article.id)).toMatchObject({ status: to });
  }
});

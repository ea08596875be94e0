import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { asFinalFailure, MAX_FAILURES } from '../../activities/failures.ts';
import type { JobId } from '../../src/ids.ts';
import { cancelJob } from '../../src/jobs/cancel.ts';
import { jobAreas } from '../../src/processes/job-areas.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { hang, useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, provider, operator, workspace, calls, reconcile } = useTranslations({ hasSchedules: true });

const untouched = { balance: 10, reserved: 0, available: 10 };

/** Makes Postgres refuse updates of this workspace's rows of a table, until the returned function is called. */
async function refuse(
  table: 'articles' | 'wallets',
  { sqlstate, when = 'true' }: { sqlstate: string; when?: string },
): Promise<() => Promise<void>> {
  await sql`
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = TG_ARGV[0]; END $$`.execute(service.db);
  await sql`
    CREATE TRIGGER refuse BEFORE UPDATE ON ${sql.table(table)} FOR EACH ROW
    WHEN (OLD.workspace_id = ${sql.lit(workspace.id)} AND (${sql.raw(when)}))
    EXECUTE FUNCTION refuse(${sql.lit(sqlstate)})`.execute(service.db);
  return async () => {
    await sql`DROP TRIGGER refuse ON ${sql.table(table)}`.execute(service.db);
  };
}

async function expectFailed(job: { id: string }): Promise<void> {
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({
    status: 'FAILED',
    errorCode: 'TRANSLATION_FAILED',
    consumedCredits: 0,
  });
}

it('an article that Postgres refuses to store fails its job at once and releases its credits', async () => {
  const allow = await refuse('articles', { sqlstate: '54000', when: "NEW.status = 'NEEDS_REVIEW'" });
  const { article, job } = await calls.translate(workspace, 300);
  await expectFailed(job);
  expect(await calls.readWallet(workspace)).toEqual(untouched);
  expect(await calls.readArticle(workspace, article.id)).toMatchObject({ status: 'DRAFT', wordCount: 0 });
  await allow();
});

// contract.md T17
it('what refuses the article refuses its emptying, too: the job ends and pays back all the same, the draft follows', async () => {
  const allow = await refuse('articles', { sqlstate: '22003', when: "OLD.status = 'PROCESSING'" });
  const { article, job } = await calls.translate(workspace, 300);
  await expectFailed(job);
  expect(await calls.readWallet(workspace)).toEqual(untouched);
  await allow();
  await reconcile();
  await eventually(
    () => calls.readArticle(workspace, article.id),
    ({ status }) => status === 'DRAFT',
  );
});

it('a wallet that cannot be written leaves no job open, and its credits come back once it can', async () => {
  const allow = await refuse('wallets', { sqlstate: '22003', when: 'NEW.reserved < OLD.reserved' });
  const { job } = await calls.translate(workspace, 300);
  await expectFailed(job);
  expect(await calls.readWallet(workspace)).toEqual({ balance: 10, reserved: 1, available: 9 });
  await allow();
  await reconcile();
  await eventually(
    () => calls.readWallet(workspace),
    ({ reserved }) => reserved === 0,
  );
  expect(await calls.readWallet(workspace)).toEqual(untouched);
});

it('what a cancellation could not give back is told by name, and the job has ended', async () => {
  provider.behave = hang;
  const { job } = await calls.translate(workspace, 300);
  const allow = await refuse('wallets', { sqlstate: '22003', when: 'NEW.reserved < OLD.reserved' });
  const told: string[] = [];
  const runs = {
    start: () => Promise.resolve(),
    cancel: () => Promise.resolve(),
    onLeftOver: (part: string) => void told.push(part),
    areas: jobAreas,
    unbilledLimit: 0,
  };
  const cancelled = await cancelJob({ ...workspace.context, runs }, job.id as JobId);
  expect([cancelled.status, told]).toEqual(['CANCELLED', [`hold of job ${job.id}`]]);
  await allow();
});

it('texts that cannot be put together again fail the job and release its credits', async () => {
  let spoiled = false;
  provider.behave = async () => {
    if (spoiled) return;
    spoiled = true;
    // What was stored last is damaged before the article is put together.
    await sql`
      CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.target_text := '<b id="9">stray</b>'; RETURN NEW; END $$`.execute(service.db);
    await sql`CREATE TRIGGER spoil BEFORE UPDATE ON translation_segments FOR EACH ROW EXECUTE FUNCTION spoil()`.execute(
      service.db,
    );
  };
  const { job } = await calls.translate(workspace, 300);
  await expectFailed(job);
  expect(await calls.readWallet(workspace)).toEqual(untouched);
  await sql`DROP TRIGGER spoil ON translation_segments`.execute(service.db);
});

it('a mistake in our own code fails the job at once, with the engine asked once', async () => {
  let asked = 0;
  provider.behave = async () => {
    asked += 1;
    throw new TypeError("Cannot read properties of undefined (reading 'text')");
  };
  const { job } = await calls.translate(workspace, 100);
  await expectFailed(job);
  expect(asked).toBe(1);
  expect(await calls.readWallet(workspace)).toEqual(untouched);
});

it('an error that nobody knows is tried again and counted, and a settled job is charged once', async () => {
  await sql`CREATE SEQUENCE tries`.execute(service.db);
  const allow = await refuse('articles', {
    sqlstate: 'P0001',
    when: "NEW.status = 'NEEDS_REVIEW' AND nextval('tries') <= 3",
  });
  const { job } = await calls.translate(workspace, 300);
  const counted = new Set<unknown>();
  const run = operator.client.workflow.getHandle(translationWorkflowId(job.id as JobId));
  const ended = await eventually(
    async () => {
      for (const { heartbeatDetails } of (await run.describe()).raw.pendingActivities ?? []) {
        for (const { data } of heartbeatDetails?.payloads ?? []) counted.add(String(data));
      }
      return calls.readJob(workspace, job.id);
    },
    ({ status }) => status !== 'QUEUED' && status !== 'TRANSLATING',
  );
  expect(ended).toMatchObject({ status: 'COMPLETED', consumedCredits: 1 });
  expect(counted).toContain('{"failures":2}');
  expect(await calls.readWallet(workspace)).toEqual({ balance: 9, reserved: 0, available: 9 });
  await allow();
});

it('the tenth unknown error ends an activity, and an error of the connection never does', async () => {
  const attempt = async (failures: number, error: Error): Promise<unknown> => {
    const environment = new MockActivityEnvironment({ attempt: 50, heartbeatDetails: { failures } });
    return environment
      .run(() => asFinalFailure(() => Promise.reject(error)))
      .catch((thrown: unknown) => thrown);
  };
  const unknown = new Error('who knows');
  expect(await attempt(MAX_FAILURES - 2, unknown)).toBe(unknown);
  expect(await attempt(MAX_FAILURES - 1, unknown)).toMatchObject({ nonRetryable: true });
  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  expect(await attempt(MAX_FAILURES + 20, away)).toBe(away);
});

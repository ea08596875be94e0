import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { beginCall, endCall } from '../../src/generation/calls.ts';
import { OUTLINE_PART, PLAN_PART } from '../../src/generation/parts.ts';
import type { ArticleId, JobId } from '../../src/ids.ts';
import type { ChatResponse } from '../../src/providers/chat-model.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { generationWorkflowId } from '../../src/temporal/ids.ts';
import { documentOf, editing } from '../articles/support.ts';
import { SHORT, useGenerations } from '../support/generating.ts';
import { eventually } from '../support/wait.ts';
import { untilWaiting } from '../translations/support/locks.ts';
import { controlSteps, type StepControl } from './support/steps.ts';

const { service, workspace, calls, writers, operator } = useGenerations({ credits: 20 });

let steps: StepControl;
beforeAll(async () => {
  steps = await controlSteps(service.db);
});

const FIRST_SECTION = PLAN_PART + 1;
const NO_TEXT = 'The response has no text of the article.';
const WITHOUT_TEXT: ChatResponse = { object: null, text: '', truncated: false };

/** What the writer does when it is asked for a section, call by call; the last for ever. Returns how often it was asked. */
function whenAsked(...turns: readonly (ChatResponse | ProviderError)[]): () => number {
  let asked = 0;
  writers.responses.section = async () => {
    const turn = turns[Math.min(asked, turns.length - 1)] ?? WITHOUT_TEXT;
    asked += 1;
    if (turn instanceof ProviderError) throw turn;
    return turn;
  };
  return () => asked;
}
const busy = (retryAfterMs: number) => new ProviderError('retryable', 'The model is busy.', { retryAfterMs });
const report = async (jobId: string) =>
  (await service.call(workspace.key, 'GET', `/api/jobs/${jobId}/report`)).body.report;
/** Has the database away, a moment that ends with what it returns, for whoever writes such a row of a part. */
async function awayFor(row: string): Promise<{ until: (times: number) => Promise<void> }> {
  await sql`CREATE SEQUENCE refused`.execute(service.db);
  await sql`CREATE OR REPLACE FUNCTION refuse_part() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM nextval('refused'); RAISE too_many_connections USING MESSAGE = 'away, says the test'; END $$`.execute(
    service.db,
  );
  await sql`CREATE TRIGGER refuse_part BEFORE UPDATE ON generation_parts
    FOR EACH ROW WHEN (NEW.part = ${sql.lit(FIRST_SECTION)} AND ${sql.raw(row)}) EXECUTE FUNCTION refuse_part()`.execute(
    service.db,
  );
  const refusals = async () =>
    (await sql<{ times: number }>`SELECT last_value::integer AS times FROM refused`.execute(service.db))
      .rows[0]?.times ?? 0;
  return {
    async until(times) {
      try {
        await eventually(refusals, (so) => so >= times);
      } finally {
        await sql`DROP TRIGGER refuse_part ON generation_parts`.execute(service.db);
        await sql`DROP SEQUENCE refused`.execute(service.db);
      }
    },
  };
}
const partsOf = (jobId: string) =>
  service.db
    .selectFrom('generation_parts')
    .select(['words', 'calls'])
    .where('job_id', '=', jobId as JobId)
    .orderBy('part')
    .execute();

describe('the calls for a part', () => {
  // contract.md G35
  it('are three at most over all attempts, the answered ones, and what had to be corrected is told of a job that failed', async () => {
    const asked = whenAsked(WITHOUT_TEXT, WITHOUT_TEXT, busy(1), busy(1), busy(1), busy(1), WITHOUT_TEXT);
    const { job } = await calls.generateTo(workspace);
    expect(job).toMatchObject({
      status: 'FAILED',
      errorMessage: expect.stringMatching(/^No usable text was written/),
    });
    expect(asked()).toBe(7);
    const { sections } = await report(job.id);
    expect(sections[0].repairs).toEqual([NO_TEXT, NO_TEXT]);
    expect((await partsOf(job.id)).map((part) => part.calls).slice(0, 3)).toEqual([1, 1, 3]);
  });

  // contract.md G20
  it('count as unpaid once the customer cancels, each that was answered, also while the next attempt is waited for', async () => {
    const asked = whenAsked(WITHOUT_TEXT, WITHOUT_TEXT, busy(60_000));
    const { job } = await calls.generate(workspace);
    await eventually(
      () => partsOf(job.id),
      ([, , first]) => first?.calls === 2 && asked() === 3,
    );
    await eventually(
      () =>
        service.db
          .selectFrom('generation_parts')
          .select('asked')
          .where('job_id', '=', job.id as JobId)
          .where('part', '=', FIRST_SECTION)
          .executeTakeFirstOrThrow(),
      (part) => !part.asked,
    );
    await calls.cancel(workspace, job.id);
    const [outline, plan, first] = await partsOf(job.id);
    const { words } = await service.db
      .selectFrom('unpaid_work')
      .select('words')
      .where('workspace_id', '=', workspace.id)
      .executeTakeFirstOrThrow();
    expect(words).toBe((outline?.words ?? 0) + (plan?.words ?? 0) + 2 * (first?.words ?? 0));
  });

  // contract.md G25
  it('are known to be the run’s own although an attempt that was given up failed meanwhile', async () => {
    writers.behave = async (what) => {
      if (what !== 'outline') return;
      const { id } = await service.db
        .selectFrom('jobs')
        .select('id')
        .where('workspace_id', '=', workspace.id)
        .executeTakeFirstOrThrow();
      const late = { jobId: id, part: OUTLINE_PART, model: 'stand-in', repairs: [] };
      const call = await beginCall(service.db, late);
      await endCall(service.db, call ?? '', { outcome: 'rejected', usage: undefined });
    };
    const { job } = await calls.generateTo(workspace, SHORT);
    expect((await report(job.id)).outline).toEqual({ approved: false, repairs: [] });
  });
});

// contract.md G24 and G88
it('the articles that a text may link to are noted as the run begins, and one section is told of each', async () => {
  const project = await service.project(workspace);
  const edit = editing(service, workspace);
  await edit.published(project, { title: 'Compost' });
  const offered: (readonly string[])[] = [];
  writers.responses.section = async (question) => {
    if (offered.length === 0) await edit.published(project, { title: 'Mulch' });
    offered.push(question.articles);
    return writers.pseudo.ask(question);
  };
  const { body } = await calls.request(workspace, project);
  await calls.untilFinal(workspace, body.job.id);
  expect(offered.length).toBeGreaterThan(1);
  expect(offered.flat()).toEqual(['Compost']);
});

// contract.md G23
it('the generations to prune are not found by reading them all', async () => {
  const plan = await service.db.transaction().execute(async (tx) => {
    // Of tables as small as these any plan is a good one.
    await sql`SET LOCAL enable_seqscan = off`.execute(tx);
    await sql`SET LOCAL enable_bitmapscan = off`.execute(tx);
    await sql`SET LOCAL enable_sort = off`.execute(tx);
    const { rows } = await sql`
      EXPLAIN SELECT job_id FROM generations WHERE config IS NOT NULL ORDER BY job_id LIMIT 100`.execute(tx);
    return JSON.stringify(rows);
  });
  expect(plan).toContain('generations_kept_idx');
});

describe('while the database is away', () => {
  // contract.md G19
  it('an answer waits to be stored once that is back, and is not asked for again', async () => {
    const away = await awayFor('NEW.content IS NOT NULL');
    const { job } = await calls.generate(workspace);
    await away.until(2);
    expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'COMPLETED' });
    const { sections } = await report(job.id);
    expect(writers.asked.filter((what) => what === 'section')).toHaveLength(sections.length);
  });

  it('the calls of a failure wait to be noted: there are three all the same', async () => {
    const asked = whenAsked(WITHOUT_TEXT);
    const away = await awayFor('NOT NEW.asked AND OLD.asked');
    const { job } = await calls.generate(workspace);
    await away.until(2);
    expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'FAILED' });
    expect(asked()).toBe(3);
  });
});

// contract.md J4
it.each([
  [
    'misconfigured',
    "this service's access to its engine is refused. Nothing was charged; the operator of the service has to fix that.",
  ],
  [
    'retryable',
    'its engine was busy or out of reach for too long. Nothing was charged; start it again later.',
  ],
] as const)(
  'a customer is not told of the settings of a service whose engine fails: %s',
  async (kind, why) => {
    whenAsked(new ProviderError(kind, 'It did not go. Check AI_API_KEY.', { retryAfterMs: 1 }));
    const { article, job } = await calls.generateTo(workspace, SHORT);
    const errorMessage = `The generation stopped, because ${why}`;
    expect(job).toMatchObject({ status: 'FAILED', errorMessage });
    expect((await calls.events(article.id)).at(-1)?.data).toMatchObject({ error: errorMessage });
    expect(await operator.kept(generationWorkflowId(job.id as JobId))).toContain('Check AI_API_KEY.');
  },
);

describe('a run with research in its price', () => {
  // contract.md G13
  it.each([
    { researched: false, charged: 1 },
    { researched: true, charged: 2 },
  ])(
    'enters the step, and is charged for it when it has delivered: $researched',
    async ({ researched, charged }) => {
      let jobId = '';
      await steps.hold('VALIDATING', async () => {
        const { job } = await calls.generate(workspace, SHORT);
        jobId = job.id;
        await untilWaiting(service.db, 1);
        // As a deployment that researches would have admitted and done it; an image is held too.
        await sql`UPDATE generations SET researched = ${researched},
        price = price || '{"research": 1}' WHERE job_id = ${job.id}`.execute(service.db);
      });
      const job = await calls.untilFinal(workspace, jobId);
      expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: charged });
      expect((await steps.movesOf(jobId)).slice(0, 3).map((move) => [move.status, move.step])).toEqual([
        ['VALIDATING', 'validate'],
        ['RESEARCHING', 'research'],
        ['OUTLINING', 'outline'],
      ]);
      expect(await calls.readWallet(workspace)).toMatchObject({ balance: 20 - charged, reserved: 0 });
    },
  );
});

describe('the end of a run', () => {
  // contract.md G14
  it.each([
    ['ledger_entries', 'true'],
    ['events', `NEW.type = 'article.generation.completed'`],
    ['jobs', `NEW.status = 'COMPLETED'`],
  ])('leaves nothing when a row of %s is refused in it', async (table, when) => {
    await sql`CREATE OR REPLACE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE check_violation USING MESSAGE = 'refused by the test'; END $$`.execute(service.db);
    const { article, job } = await calls.generate(workspace, SHORT);
    await sql`CREATE TRIGGER refuse_row BEFORE INSERT OR UPDATE ON ${sql.table(table)}
      FOR EACH ROW WHEN (${sql.raw(when)}) EXECUTE FUNCTION refuse_row()`.execute(service.db);
    try {
      const ended = await calls.untilFinal(workspace, job.id);
      expect(ended).toMatchObject({ status: 'FAILED', progress: 96, consumedCredits: 0 });
    } finally {
      await sql`DROP TRIGGER refuse_row ON ${sql.table(table)}`.execute(service.db);
    }
    expect(await calls.readArticle(workspace, article.id as ArticleId)).toMatchObject({
      status: 'DRAFT',
      title: 'A garden in spring',
      documentJson: documentOf(),
      outline: null,
      wordCount: 0,
    });
    expect(await calls.eventTypes(article.id)).toEqual([
      'article.created',
      'article.generation.started',
      'article.generation.failed',
    ]);
    expect(await calls.readWallet(workspace)).toEqual({ balance: 20, reserved: 0, available: 20 });
  });
});

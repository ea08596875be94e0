import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_UNANSWERED } from '../../src/generation/call-limits.ts';
import { beginCall, endCall } from '../../src/generation/calls.ts';
import { PLAN_PART } from '../../src/generation/parts.ts';
import { pruneGenerations } from '../../src/generation/prune.ts';
import type { GenerationReport } from '../../src/generation/report.ts';
import type { JobId } from '../../src/ids.ts';
import type { ChatResponse } from '../../src/providers/chat-model.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { runCli } from '../cli/run.ts';
import { scrape } from '../metrics/support/exposition.ts';
import { createStandInWriter, generating, SHORT } from '../support/generating.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { untilWaiting } from '../translations/support/locks.ts';

const service = useTestService();
const calls = generating(service);
const writers = createStandInWriter();
let metricsUrl: string;
let workspace: TestWorkspace;

beforeAll(async () => {
  ({ metricsUrl } = await service.startWorker({ writers }));
  workspace = await service.workspace(20);
});
afterAll(() => service.stopWorkers());

const silent = () => new ProviderError('retryable', 'It broke off.', { retryAfterMs: 1, unanswered: true });
const busy = () => new ProviderError('retryable', 'It is busy.', { retryAfterMs: 1 });
const FIRST_SECTION = PLAN_PART + 1;
const WITHOUT_TEXT: ChatResponse = { object: null, text: '', truncated: false };
const USED = { input: 700, cached: 500, output: 300, reasoning: 100 };

/** What the model does call by call when it is asked for a section, then what pseudo does. Returns how often it was asked. */
function whenAsked(...turns: readonly (ChatResponse | (() => Error))[]): () => number {
  let asked = 0;
  writers.responses.section = async (question) => {
    const turn = turns[asked];
    asked += 1;
    if (turn === undefined) return { ...(await writers.pseudo.ask(question)), usage: USED };
    if (typeof turn === 'function') throw turn();
    return turn;
  };
  return () => asked;
}
const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);
const reportOf = async (jobId: string): Promise<GenerationReport> =>
  (await service.call(workspace.key, 'GET', `/api/jobs/${jobId}/report`)).body.report;
const outcomes = ({ calls: made }: GenerationReport, part: number) =>
  made.filter((call) => call.part === part).map(({ outcome }) => outcome);

// contract.md G78
describe('the calls for a part', () => {
  it('are six at most without a whole response, whatever else came between', async () => {
    const asked = whenAsked(...[silent, busy, silent, WITHOUT_TEXT, silent].flat(), ...times(9, silent));
    const { job } = await calls.generateTo(workspace);
    expect(job).toMatchObject({
      status: 'FAILED',
      consumedCredits: 0,
      errorMessage: expect.stringContaining('no whole response to 6 calls'),
    });
    expect(asked()).toBe(8);
    expect(outcomes(await reportOf(job.id), FIRST_SECTION)).toEqual([
      'unanswered',
      'unanswered',
      'answered',
      ...times(4, 'unanswered'),
    ]);
  });

  it('that the model did not take are repeated as often as that takes', async () => {
    const asked = whenAsked(...times(12, busy));
    const { job } = await calls.generateTo(workspace, SHORT);
    expect(job.status).toBe('COMPLETED');
    const { sections } = await reportOf(job.id);
    expect(asked()).toBe(12 + sections.length);
  });

  it('are not made beyond six by attempts at the same moment, and none once the part or the job has ended', async () => {
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    writers.responses.section = async (question) => {
      asked.resolve();
      await released.promise;
      return writers.pseudo.ask(question);
    };
    const { job } = await calls.generate(workspace, SHORT);
    await asked.promise;
    const next = { jobId: job.id as JobId, part: FIRST_SECTION, model: 'stand-in', repairs: [] };
    const parts = () =>
      service.db
        .updateTable('generation_parts')
        .where('job_id', '=', next.jobId)
        .where('part', '=', FIRST_SECTION);
    await parts()
      .set({ unanswered: MAX_UNANSWERED - 1 })
      .execute();
    let begun: Promise<(string | null)[]> | undefined;
    await service.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM generation_parts WHERE job_id = ${job.id} FOR UPDATE`.execute(tx);
      begun = Promise.all(times(3, next).map((call) => beginCall(service.db, call)));
      await untilWaiting(service.db, 3);
    });
    const ids = (await begun)?.filter((id) => id !== null) ?? [];
    expect(ids).toHaveLength(1);
    // Its end, noted twice, makes room for one call.
    for (const outcome of ['rejected', 'answered'] as const) {
      await endCall(service.db, ids[0] ?? '', { outcome, usage: undefined });
    }
    expect(
      await parts().set({ unanswered: 1 }).returning(['calls', 'asked']).executeTakeFirstOrThrow(),
    ).toEqual({
      calls: 0,
      asked: false,
    });
    expect(await beginCall(service.db, { ...next, part: 0 })).toBeNull();
    released.resolve();
    expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await beginCall(service.db, next)).toBeNull();
  });
});

// contract.md G79 and G80
it('calls are in the report and the metrics, and in the usage of their workspace until they are too old, also without the article', async () => {
  whenAsked(WITHOUT_TEXT, silent);
  workspace = await service.workspace(20);
  const before = await scrape(metricsUrl);
  const { article, job } = await calls.generateTo(workspace);
  const report = await reportOf(job.id);
  const sections = report.sections.length;
  expect(outcomes(report, 0)).toEqual(['answered']);
  expect(outcomes(report, FIRST_SECTION)).toEqual(['answered', 'unanswered', 'answered']);
  const lastCall = report.calls.findLast(({ kind }: { kind: string }) => kind === 'section');
  expect(lastCall).toEqual({
    part: PLAN_PART + sections,
    image: null,
    kind: 'section',
    model: 'pseudo',
    outcome: 'answered',
    startedAt: expect.stringMatching(/Z$/),
    milliseconds: expect.any(Number),
    inputTokens: 700,
    cachedTokens: 500,
    outputTokens: 300,
    reasoningTokens: 100,
  });
  const after = await scrape(metricsUrl);
  const grown = (name: string, labels: Record<string, string>) =>
    (after.value(name, { model: 'pseudo', ...labels }) ?? 0) -
    (before.value(name, { model: 'pseudo', ...labels }) ?? 0);
  expect(grown('generation_calls_total', { outcome: 'answered' })).toBe(5 + sections);
  expect(grown('generation_calls_total', { outcome: 'unanswered' })).toBe(1);
  expect(grown('generation_tokens_total', { kind: 'output' })).toBe(300 * sections);

  const usage = async () => {
    const { code, stdout, stderr } = await runCli(
      'admin',
      ['--json', 'usage', '--workspace', workspace.id],
      service.env,
    );
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout).usage;
  };
  const expected = [
    {
      workspaceId: workspace.id,
      workspace: expect.any(String),
      model: 'pseudo',
      answered: 5 + sections,
      unanswered: 1,
      inputTokens: 700 * sections,
      cachedTokens: 500 * sections,
      outputTokens: 300 * sections,
      reasoningTokens: 100 * sections,
    },
  ];
  expect(await usage()).toEqual(expected);
  const deleted = await service.call(workspace.key, 'DELETE', `/api/articles/${article.id}`);
  expect(deleted.status).toBe(200);
  await pruneGenerations(service.db, { retentionMs: 3_600_000 });
  expect(await usage()).toEqual(expected);
  await sql`UPDATE generation_calls SET created_at = created_at - interval '2 hours'`.execute(service.db);
  await pruneGenerations(service.db, { retentionMs: 3_600_000 });
  expect(await usage()).toEqual([]);
});

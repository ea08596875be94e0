import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { describe, expect, inject, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import { isFinal } from '../../src/jobs/queries.ts';
import type { Job } from '../../src/jobs/schemas.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { createArticle, longDocument } from '../support/articles.ts';
import { askedTexts, completion, pseudoCompletion } from '../support/chat-completions.ts';
import { startEngineServer } from '../support/engine-server.ts';
import { useModel } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const KEY = 'sk-key-that-must-not-show-42';

const { model, service, worker, workspace, calls } = useModel(() => startEngineServer(pseudoCompletion), {
  credits: 10_000,
  env: { AI_API_KEY: KEY },
});

/** How often each text was asked for. */
function asks(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const request of model.requests) {
    for (const text of Object.values(askedTexts(request))) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}

/** The run of a job once it has closed. */
async function runOf(job: { id: string }) {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    const handle = new Client({ connection }).workflow.getHandle(translationWorkflowId(job.id as JobId));
    // It tells its end itself: to ask again and again costs more.
    await handle.result().catch(() => undefined);
    const { historyLength, historySize } = await handle.describe();
    return {
      events: historyLength,
      bytes: historySize ?? 0,
      history: historyToJSON(await handle.fetchHistory()),
    };
  } finally {
    await connection.close();
  }
}

describe('a job on a language model', () => {
  it('asks for every segment once, and shows neither key nor text in its history', async () => {
    const { job } = await calls.translate(workspace, 3_000);
    expect(await calls.untilFinal(workspace, job.id)).toMatchObject({
      status: 'COMPLETED',
      consumedCredits: 3,
    });
    expect(asks().size).toBe(61);
    expect([...asks().values()].every((count) => count === 1)).toBe(true);
    const row = await service.db
      .selectFrom('translations')
      .select(['provider', 'batch_count'])
      .where('job_id', '=', job.id as JobId)
      .executeTakeFirstOrThrow();
    expect(row).toEqual({ provider: 'openai-compatible', batch_count: 9 });
    const { history } = await runOf(job);
    for (const secret of [KEY, Buffer.from(KEY).toString('base64').slice(0, 20), 'worda']) {
      expect(history).not.toContain(secret);
    }
  });

  // contract.md J1
  it('shows no step while queued, then translate, then finalize, and never less progress than before', async () => {
    model.answer = async (request) => {
      await sleep(120);
      return pseudoCompletion(request);
    };
    const { job } = await calls.translate(workspace, 4_000);
    expect(job).toMatchObject({ status: 'QUEUED', currentStep: null, progress: 0 });
    const seen: Job[] = [];
    await eventually(async () => {
      const now = await calls.readJob(workspace, job.id);
      seen.push(now);
      return now;
    }, isFinal);
    const progress = seen.map((entry) => entry.progress);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(new Set(progress).size).toBeGreaterThan(3);
    for (const { status, currentStep, progress: reached } of seen) {
      if (status === 'QUEUED') expect([currentStep, reached]).toEqual([null, 0]);
      if (status === 'TRANSLATING') {
        expect(['translate', 'finalize']).toContain(currentStep);
        expect(reached).toBeLessThanOrEqual(95);
      }
    }
    expect(seen.at(-1)).toMatchObject({ status: 'COMPLETED', currentStep: 'finalize', progress: 100 });
  });

  it('changes nothing in its result when the source is edited in the middle', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    model.answer = async (request) => {
      if (model.requests.length > 2) await gate;
      return pseudoCompletion(request);
    };
    const { source, article, job } = await calls.translate(workspace, 4_000);
    await eventually(
      () => calls.readJob(workspace, job.id),
      ({ progress }) => progress > 0,
    );
    await service.db
      .updateTable('articles')
      .set({ title: 'Changed', document: JSON.stringify(longDocument(60)), meta_title: 'Changed' })
      .where('id', '=', source.id)
      .execute();
    release();
    expect(await calls.untilFinal(workspace, job.id)).toMatchObject({
      status: 'COMPLETED',
      consumedCredits: 4,
    });
    const translated = await calls.readArticle(workspace, article.id);
    expect(translated.documentJson.blocks.map(({ id }) => id)).toEqual(
      source.document.blocks.map(({ id }) => id),
    );
    expect(translated).toMatchObject({ title: '⟦Å ĝåŕðéñ îñ šṕŕîñĝ⟧', metaTitle: null, wordCount: 4_000 });
  });

  it('keeps what is usable of a batch whose rest failed: a retry asks for the rest alone', async () => {
    let refusals = 2;
    model.answer = (request) => {
      const texts = askedTexts(request);
      if (Object.hasOwn(texts, 'title')) return pseudoCompletion(request);
      const [, ...others] = Object.entries(texts);
      if (others.length > 0) {
        return completion(
          JSON.stringify(Object.fromEntries(others.map(([id, text]) => [id, pseudoLocalize(text)]))),
        );
      }
      refusals -= 1;
      return refusals >= 0
        ? { status: 429, headers: { 'retry-after-ms': '50' }, body: { error: { message: 'slow down' } } }
        : pseudoCompletion(request);
    };
    const { job } = await calls.translate(workspace, 200);
    expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'COMPLETED' });
    expect([...asks().values()].toSorted()).toEqual([1, 1, 1, 1, 4]);
  });

  it('waits while the engine refuses the key, tells the operator, and goes on once the key is right', async () => {
    let valid = false;
    model.answer = (request) =>
      valid
        ? pseudoCompletion(request)
        : { status: 401, body: { error: { message: `Incorrect key ${KEY}`, code: 'invalid_api_key' } } };
    const jobs = await Promise.all([calls.translate(workspace, 100), calls.translate(workspace, 100)]);
    const refusals = async () => {
      const text = await (await fetch(worker.metricsUrl)).text();
      return Number(/^translation_engine_refusals_total (\d+)$/m.exec(text)?.[1]);
    };
    await eventually(refusals, (count) => count >= 4);
    for (const { job } of jobs) {
      expect(await calls.readJob(workspace, job.id)).toMatchObject({
        status: 'TRANSLATING',
        errorMessage: null,
      });
    }
    valid = true;
    for (const { job } of jobs) {
      expect(await calls.untilFinal(workspace, job.id)).toMatchObject({
        status: 'COMPLETED',
        consumedCredits: 1,
      });
      expect((await runOf(job)).history).not.toContain(KEY);
    }
  });

  it.each([
    [
      'a bad request',
      () => ({ status: 400, body: { error: { message: `No ${KEY}`, code: 'invalid_request_error' } } }),
      'The language model did not accept the request (HTTP 400, invalid_request_error).',
    ],
    [
      'refused content',
      () => completion('', { finishReason: 'content_filter' }),
      'openai-compatible declines to translate too many texts',
    ],
    [
      'nonsense to the end',
      () => completion('{"title":""}'),
      /^openai-compatible gave no usable translation of \S+: (the translation is empty|there is no translation)/,
    ],
  ])('fails with a message to act on, the key nowhere: %s', async (_what, response, message) => {
    model.answer = response;
    const { article, job } = await calls.translate(workspace, 100);
    const failed = await calls.untilFinal(workspace, job.id);
    expect(failed).toMatchObject({ status: 'FAILED', errorCode: 'TRANSLATION_FAILED', consumedCredits: 0 });
    expect(failed.errorMessage).toMatch(message);
    expect(await calls.readArticle(workspace, article.id)).toMatchObject({ status: 'DRAFT', wordCount: 0 });
    expect((await runOf(job)).history).not.toContain(KEY);
  });
});

it('a history of 100,000 words, in long and in short texts, stays under 2,000 events and 1 MB', async () => {
  const cells = (table: number, row: number) =>
    Array.from({ length: 5 }, (_, cell) => `row ${table * 100 + row} cell ${cell}`);
  const table = {
    version: 1 as const,
    blocks: Array.from({ length: 50 }, (_, index) => ({
      id: `t${index}`,
      type: 'table' as const,
      header: cells(index, 0),
      rows: Array.from({ length: 99 }, (_row, row) => cells(index, row + 1)),
    })),
  };
  // Answers that come one by one make more events than answers that come together.
  model.answer = async (request) => {
    await sleep(20 + Math.random() * 40);
    return pseudoCompletion(request);
  };
  for (const document of [longDocument(100_000), table]) {
    const source = await createArticle(service.db, workspace, await service.project(workspace), { document });
    const response = await service.call(workspace.key, 'POST', `/api/articles/${source.id}/translations`, {
      language: 'es',
    });
    expect(response.body.estimate).toEqual({ words: 100_000, total: 100 });
    const isRunning = ({ status }: Job) => status !== 'QUEUED';
    await eventually(() => calls.readJob(workspace, response.body.job.id), isRunning, 240_000);
    const { events, bytes } = await runOf(response.body.job);
    const done = await calls.readJob(workspace, response.body.job.id);
    expect(done).toMatchObject({ status: 'COMPLETED', consumedCredits: 100 });
    expect(events).toBeGreaterThan(800);
    expect(events).toBeLessThan(2_000);
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThan(1_000_000);
    process.stdout.write(`100,000 words: ${events} events, ${bytes} bytes\n`);
  }
}, 300_000);

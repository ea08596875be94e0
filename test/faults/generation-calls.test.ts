import { expect, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import { generationWorkflowId } from '../../src/temporal/ids.ts';
import { chatRequest, completion } from '../support/chat-completions.ts';
import { beginStream, breakOff, type EngineResponse, sendTokens, silence } from '../support/engine-server.ts';
import { generating } from '../support/generating.ts';
import { untilEnded } from '../support/jobs.ts';
import { startCarelessModel } from '../support/model/careless-model.ts';
import { type ServiceProcess, startProcess } from '../support/processes.ts';
import { useTestService } from '../support/service.ts';
import { connectOperator } from '../support/temporal.ts';
import { eventually } from '../support/wait.ts';

const service = useTestService();
const calls = generating(service);

/** A model that does this when it is asked for sections, one answer after the other, and then what an honest one does. */
async function startModel(...answers: readonly EngineResponse[]) {
  const model = await startCarelessModel();
  const { answer } = model;
  let sections = 0;
  model.answer = (request) => {
    if (chatRequest(request).response_format !== undefined) return answer(request);
    sections += 1;
    return answers[sections - 1] ?? answer(request);
  };
  const env = {
    ...service.env,
    GENERATION_PROVIDER: 'openai-compatible',
    AI_BASE_URL: model.url,
    AI_MODEL: 'stand-in',
  };
  return { sections: () => sections, close: model.close, start: () => startProcess('worker.ts', env) };
}

const stopsInItsText: EngineResponse = (response) => {
  beginStream(response);
  sendTokens(response, { content: 'Roses ' });
};
const UNUSABLE = completion('');

// contract.md G78
it('a part costs three answered and six unanswered calls, counted at the model, over attempts and killed workers', {
  timeout: 240_000,
}, async () => {
  const workspace = await service.workspace(10);
  const breaks = Array.from({ length: 4 }, () => breakOff);
  const model = await startModel(UNUSABLE, stopsInItsText, UNUSABLE, silence, ...breaks);
  let worker: ServiceProcess = await model.start();
  const { article, job } = await calls.generate(workspace);
  // Killed while the model is in the middle of its text, and while it thinks.
  for (const asked of [2, 4]) {
    await eventually(
      async () => model.sections(),
      (count) => count === asked,
      60_000,
    );
    worker.kill('SIGKILL');
    await worker.ended;
    worker = await model.start();
  }
  // How long attempts wait for each other changes nothing of the count.
  const operator = await connectOperator();
  await operator.hurry(generationWorkflowId(job.id as JobId));
  await operator.close();
  await untilEnded(service.db, [job.id], 120_000);
  expect(await calls.readJob(workspace, job.id)).toMatchObject({
    status: 'FAILED',
    consumedCredits: 0,
    errorMessage: expect.stringContaining('no whole response to 6 calls'),
  });
  expect(model.sections()).toBe(8);
  const { report } = (await service.call(workspace.key, 'GET', `/api/jobs/${job.id}/report`)).body;
  const outcomes = report.calls.flatMap((call: { kind: string; outcome: string | null }) =>
    call.kind === 'section' ? [call.outcome] : [],
  );
  expect(outcomes).toEqual([
    'answered',
    null,
    'answered',
    null,
    ...Array.from({ length: 4 }, () => 'unanswered'),
  ]);
  expect(await calls.readArticle(workspace, article.id)).toMatchObject({ status: 'DRAFT' });
  worker.kill('SIGTERM');
  await worker.ended;
  await model.close();
});

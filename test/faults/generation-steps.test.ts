import { expect, it } from 'vitest';
import { controlSteps, type Place, STEPS } from '../generation/support/steps.ts';
import { startWritingModel } from '../generation/support/writing-model.ts';
import { listenToAll } from '../support/events.ts';
import { type Generated, generating } from '../support/generating.ts';
import { untilEnded } from '../support/jobs.ts';
import { startProcess } from '../support/processes.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const service = useTestService({ UNBILLED_LIMIT_WORDS: '0' });

/** Every step, the time between edits and lead, and the assembly of the document. Who is let in holds up the others of its workspace, so that one is alone. */
const PLACES: readonly Place[] = [...STEPS, 'leading', 'assembling'];

// contract.md G19 and G75
it('a generation whose worker is killed in the transaction of any of its steps is charged once, and requests nothing twice', {
  timeout: 200_000,
}, async () => {
  const calls = generating(service);
  const [alone, others] = [await service.workspace(10), await service.workspace(100)];
  for (const { id } of [alone, others]) await listenToAll(service.db, id);
  const model = await startWritingModel();
  const steps = await controlSteps(service.db);
  const all: (Generated & { workspace: TestWorkspace; place: Place })[] = [];
  for (const place of PLACES) {
    const workspace = place === 'VALIDATING' ? alone : others;
    all.push({ ...(await calls.generate(workspace, { topic: `Held in ${place}` })), workspace, place });
  }
  const start = () => startProcess('worker.ts', { ...service.env, ...model.env, DATABASE_POOL_SIZE: '20' });
  const first = await start();
  await steps.holdEach(new Map(all.map(({ job, place }) => [job.id, place])), async () => {
    await eventually(
      () => steps.held(),
      (count) => count === PLACES.length,
      60_000,
    );
    first.kill('SIGKILL');
    await first.ended;
    await steps.dropHeld();
  });
  const second = await start();
  await untilEnded(
    service.db,
    all.map(({ job }) => job.id),
    150_000,
  );
  for (const { workspace, article, job, place } of all) {
    expect(await calls.readJob(workspace, job.id), place).toMatchObject({
      status: 'COMPLETED',
      consumedCredits: 1,
    });
    expect(await calls.readArticle(workspace, article.id)).toMatchObject({ status: 'NEEDS_REVIEW' });
    const moves = (await steps.movesOf(job.id)).map(({ status }) => status);
    expect(moves, place).toEqual([...STEPS, 'COMPLETED']);
    expect((await calls.eventTypes(article.id)).sort()).toEqual([
      'article.created',
      'article.generation.completed',
      'article.generation.started',
      'credits.consumed',
    ]);
  }
  second.kill('SIGTERM');
  await second.ended;
  const ids = model.asked.map(({ id }) => id);
  expect(ids).toHaveLength(new Set(ids).size);
  expect(await calls.readWallet(alone)).toEqual({ balance: 9, reserved: 0, available: 9 });
  const left = 101 - PLACES.length;
  expect(await calls.readWallet(others)).toEqual({ balance: left, reserved: 0, available: left });
  await model.close();
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { mapTexts } from '../../src/document/format/walk.ts';
import type { HoldId } from '../../src/ids.ts';
import { createArticle, longDocument } from '../support/articles.ts';
import { askedTexts, pseudoCompletion } from '../support/chat-completions.ts';
import { startEngineServer } from '../support/engine-server.ts';
import { untilEnded } from '../support/jobs.ts';
import { type ServiceProcess, startProcess } from '../support/processes.ts';
import { useTestService } from '../support/service.ts';
import { translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

/** `node soak/refresh-kills.ts` runs this with a hundred. */
const REFRESHES = Number(process.env.REFRESHES ?? 4);
const KILLS = Number(process.env.REFRESH_KILLS ?? 1);
/** Of each: a little more than the batches of one run that are with the engine at once. */
const WORDS = 2_400;
const PARALLEL_BATCHES = 4;
const CREDITS = 3;

const service = useTestService({ UNBILLED_LIMIT_WORDS: '0' });

it('refreshes whose worker is killed are charged once, and no batch is requested again but those in flight', {
  timeout: 120_000 + REFRESHES * 6_000 + KILLS * 30_000,
}, async () => {
  const calls = translating(service);
  const workspace = await service.workspace(REFRESHES * CREDITS * 2);
  const project = await service.project(workspace);
  /** Questions of each version, a batch known by its first text. */
  const asked = new Map<string, string[]>();
  const model = await startEngineServer(async (request) => {
    const [text] = Object.values(askedTexts(request));
    // The style sheet.
    if (text === undefined) return pseudoCompletion(request);
    const version = /version (\d+)/.exec(text)?.[1] ?? '';
    asked.set(version, [...(asked.get(version) ?? []), text]);
    // Long enough that a kill meets batches in flight.
    if (version !== '') await sleep(300);
    return pseudoCompletion(request);
  });
  const questions = () => [...asked.values()].reduce((sum, { length }) => sum + length, 0);
  const start = (): Promise<ServiceProcess> =>
    startProcess('worker.ts', {
      ...service.env,
      TRANSLATION_PROVIDER: 'openai-compatible',
      AI_BASE_URL: model.url,
      AI_MODEL: 'stand-in',
    });
  let worker = await start();
  const versions = await Promise.all(
    Array.from({ length: REFRESHES }, async (_, index) => {
      const document = longDocument(WORDS);
      const source = await createArticle(service.db, workspace, project, { document });
      const { article } = await calls.translateTo(workspace, source.id);
      // Each text names its version, so that the engine's requests can be told apart.
      const changed = mapTexts(document, ({ text }) => ({ text: `version ${index} ${text}` }));
      expect((await calls.save(workspace, source.id, changed)).status).toBe(200);
      return article.id;
    }),
  );
  asked.clear();
  const jobs = [];
  for (const version of versions) jobs.push(await calls.refresh(workspace, version));
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const before = questions();
    await eventually(
      async () => questions(),
      (count) => count > before + PARALLEL_BATCHES,
      60_000,
    );
    worker.kill('SIGKILL');
    await worker.ended;
    worker = await start();
  }
  await untilEnded(
    service.db,
    jobs.map(({ id }) => id),
    120_000,
  );
  for (const { id } of jobs) {
    const job = await calls.readJob(workspace, id);
    expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: CREDITS });
  }
  worker.kill('SIGTERM');
  await worker.ended;
  await model.close();

  expect(asked.size).toBe(REFRESHES);
  for (const [version, batches] of asked) {
    const again = batches.length - new Set(batches).size;
    expect(again, `questions of version ${version}`).toBeLessThanOrEqual(KILLS * PARALLEL_BATCHES);
  }
  const charges = await service.db
    .selectFrom('ledger_entries')
    .innerJoin('holds', 'holds.id', 'ledger_entries.hold_id')
    .select(['holds.id', 'ledger_entries.amount'])
    .where('holds.purpose', '=', 'refresh')
    .execute();
  expect(charges.map(({ amount }) => amount)).toEqual(versions.map(() => -CREDITS));
  expect(new Set(charges.map(({ id }): HoldId => id)).size).toBe(REFRESHES);
  expect(await calls.readWallet(workspace)).toMatchObject({ balance: 0, reserved: 0 });
});

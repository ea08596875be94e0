/**
 * Kills the worker repeatedly, with SIGKILL, in the middle of a translation by a language model that counts its requests.
 * In the end there must be one result and one charge, and after each kill only the batches that were in
 * flight may have been sent again. Ends with status 1 when anything is off.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { askedTexts, pseudoCompletion } from '../test/support/chat-completions.ts';
import { startEngineServer } from '../test/support/engine-server.ts';
import { startEphemeralEngines } from './support/engines.ts';
import { conclude, print, setting, table } from './support/report.ts';
import { createScriptService } from './support/service.ts';
import { createTranslations, untilEnded } from './support/translations.ts';

const KILLS = setting('KILLS', 10);
const WORDS = setting('KILL_WORDS', 10_000);
/** Of the model. */
const DELAY_MS = 700;
/** Longest time from the worker's first request of a batch to the kill. */
const LATEST_KILL_MS = 900;
/** Of translateArticle. */
const PARALLEL_BATCHES = 4;

/** Requests in order: the first text of a batch; empty for the style sheet. */
const requested: string[] = [];
const model = await startEngineServer(async (request) => {
  requested.push(Object.values(askedTexts(request))[0] ?? '');
  await sleep(DELAY_MS);
  return pseudoCompletion(request);
});
const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const { db } = service;
const translations = await createTranslations(service);
const startWorker = () =>
  service.startWorker({
    TRANSLATION_PROVIDER: 'openai-compatible',
    AI_BASE_URL: model.url,
    AI_MODEL: 'stand-in',
  });
const problems: string[] = [];
const check = (kept: boolean, problem: string): void => {
  if (!kept) problems.push(problem);
};

const workspace = await service.workspace('Kills');
let worker = await startWorker();
const { jobId, articleId } = await translations.translate(workspace, WORDS);

const rows: (string | number)[][] = [['kill', 'after ms', 'progress', 'questions so far', 'sent again']];
for (let kill = 1; kill <= KILLS; kill += 1) {
  const before = requested.length;
  while (requested.slice(before).every((batch) => batch === '')) await sleep(10);
  const wait = Math.round(100 + Math.random() * (LATEST_KILL_MS - 100));
  await sleep(wait);
  const earlier = new Set(requested.slice(0, before));
  const again = requested.slice(before).filter((batch) => earlier.has(batch)).length;
  worker.kill('SIGKILL');
  await worker.ended;
  const { progress, ended_at } = await db
    .selectFrom('jobs')
    .select(['progress', 'ended_at'])
    .where('id', '=', jobId)
    .executeTakeFirstOrThrow();
  rows.push([kill, wait, progress, requested.length, again]);
  check(again <= PARALLEL_BATCHES, `after kill ${kill - 1}, ${again} batches were sent again`);
  check(ended_at === null, `the job ended before kill ${kill}`);
  worker = await startWorker();
  if (ended_at !== null) break;
}
const job = await untilEnded(db, jobId, 120_000);
const article = await db
  .selectFrom('articles')
  .selectAll()
  .where('id', '=', articleId)
  .executeTakeFirstOrThrow();
const charges = await db
  .selectFrom('ledger_entries')
  .select('amount')
  .where('workspace_id', '=', workspace.id)
  .where('kind', '=', 'settlement')
  .execute();
const wallet = await db
  .selectFrom('wallets')
  .select(['balance', 'reserved'])
  .where('workspace_id', '=', workspace.id)
  .executeTakeFirstOrThrow();

print(table(rows));
const batches = new Set(requested).size;
print(
  `\n${WORDS} words, ${batches} batches, ${requested.length} requests, ${KILLS} kills: job ${job.status}`,
);
print(`charges ${JSON.stringify(charges.map(({ amount }) => amount))}, wallet ${JSON.stringify(wallet)}`);
const credits = Math.ceil(WORDS / 1_000);
check(job.status === 'COMPLETED' && job.consumed_credits === credits, `the job is ${job.status}`);
check(article.status === 'NEEDS_REVIEW' && article.word_count === WORDS, `the article is ${article.status}`);
check(charges.length === 1 && charges[0]?.amount === -credits, 'not charged exactly once');
check(wallet.reserved === 0 && wallet.balance === 100_000 - credits, 'the wallet does not agree');
check(requested.length <= batches + KILLS * PARALLEL_BATCHES, 'more was sent again than was in flight');

await translations.close();
await service.stop();
await engines.stop();
await model.close();
conclude(problems, 'One result, one charge.');

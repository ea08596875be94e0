/**
 * Jobs of the release before: its worker (OLD_RELEASE, its folder with node_modules) begins 20 translations by a model of
 * a second a call and is killed in the middle; four of them are cancelled; then the worker of this release takes over. Each
 * job must end as it would have: one result and one charge, none for what was cancelled, and only the batches in flight
 * asked for again. Ends with status 1 when anything is off. About a minute.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { cancelJob } from '../src/jobs/cancel.ts';
import { createJobRuns } from '../src/jobs/runs.ts';
import { jobAreas } from '../src/processes/job-areas.ts';
import { translationWorkflowId } from '../src/temporal/ids.ts';
import { taskQueues } from '../src/temporal/task-queues.ts';
import { pseudoCompletion } from '../test/support/chat-completions.ts';
import { startEngineServer } from '../test/support/engine-server.ts';
import { startProcess } from '../test/support/processes.ts';
import { startEphemeralEngines } from './support/engines.ts';
import { print, table } from './support/report.ts';
import { createScriptService } from './support/service.ts';
import { createTranslations, untilEnded } from './support/translations.ts';

const JOBS = 20;
const CANCELLED = 4;
const WORDS = 3_000;
const CREDITS = 3;
const PARALLEL_BATCHES = 4;

const oldRelease = process.env.OLD_RELEASE;
if (oldRelease === undefined) throw new Error('Name the folder of the release before in OLD_RELEASE.');

let asked = 0;
const model = await startEngineServer(async (request) => {
  model.requests.length = 0;
  asked += 1;
  await sleep(1_000);
  return pseudoCompletion(request);
});
const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const { db, env } = service;
const translations = await createTranslations(service);
const connection = await Connection.connect({ address: engines.temporalAddress });
const client = new Client({ connection });
const runs = createJobRuns({
  client,
  names: taskQueues(env.TEMPORAL_TASK_QUEUE_PREFIX),
  areas: jobAreas,
  unbilledLimit: 0,
  logger: pino({ level: 'warn' }),
});
const engine = { TRANSLATION_PROVIDER: 'openai-compatible', AI_BASE_URL: model.url, AI_MODEL: 'stand-in' };
const problems: string[] = [];
const check = (kept: boolean, problem: string): void => {
  if (!kept) problems.push(problem);
};

/** Whether a run was begun by this release: it marks its history. */
async function isNew(workflowId: string): Promise<boolean> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return events?.some((event) => event.markerRecordedEventAttributes) === true;
}

try {
  const workspace = await service.workspace('Upgrade');
  const old = await startProcess('worker.ts', { ...env, ...engine, WORKFLOW_BUNDLE: '' }, oldRelease);
  const jobs = await Promise.all(
    Array.from({ length: JOBS }, () => translations.translate(workspace, WORDS)),
  );
  while (asked < JOBS * 2) await sleep(50);
  old.kill('SIGKILL');
  await old.ended;
  const askedBefore = asked;
  const open = await db.selectFrom('jobs').select('status').where('ended_at', 'is', null).execute();
  check(
    open.length === JOBS,
    `${JOBS - open.length} had ended before the kill: it shows less than it should`,
  );
  for (const { jobId } of jobs.slice(0, CANCELLED)) await cancelJob({ ...workspace.context, runs }, jobId);
  await service.startWorker(engine);
  const ended = await Promise.all(jobs.map(({ jobId }) => untilEnded(db, jobId, 180_000)));

  for (const [index, { id, status, consumed_credits }] of ended.entries()) {
    const isCancelled = index < CANCELLED;
    check(status === (isCancelled ? 'CANCELLED' : 'COMPLETED'), `${id} is ${status}`);
    check(consumed_credits === (isCancelled ? 0 : CREDITS), `${id} was charged ${consumed_credits}`);
    check(!(await isNew(translationWorkflowId(id))), `the run of ${id} was not begun by the release before`);
  }
  const charges = await db
    .selectFrom('ledger_entries')
    .select('amount')
    .where('kind', '=', 'settlement')
    .execute();
  check(
    charges.length === JOBS - CANCELLED && charges.every(({ amount }) => amount === -CREDITS),
    'not each is charged exactly once',
  );
  const wallet = await db
    .selectFrom('wallets')
    .select(['balance', 'reserved'])
    .where('workspace_id', '=', workspace.id)
    .executeTakeFirstOrThrow();
  check(wallet.reserved === 0, `${wallet.reserved} credits are still held`);
  check(wallet.balance === 100_000 - (JOBS - CANCELLED) * CREDITS, 'the wallet does not agree');
  const { batches } = await db
    .selectFrom('translations')
    .innerJoin('jobs', 'jobs.id', 'translations.job_id')
    .select(({ fn }) => fn.sum<number | string>('batch_count').as('batches'))
    .where('jobs.status', '=', 'COMPLETED')
    .executeTakeFirstOrThrow();
  // A run that is planned by this release asks for a list of terms as well.
  check(asked <= Number(batches) + JOBS * (PARALLEL_BATCHES + 1), 'more was asked again than was in flight');
  print(
    table([
      ['jobs', 'cancelled', 'batches of those completed', 'asked before the kill', 'asked in all', 'charges'],
      [JOBS, CANCELLED, Number(batches), askedBefore, asked, charges.length],
    ]),
  );
} finally {
  await translations.close();
  await connection.close();
  await service.stop();
  await engines.stop();
  await model.close();
}
for (const problem of problems) print(`OFF: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;

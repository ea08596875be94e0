/**
 * Runs `npm start` on an older Temporal (OLD_TEMPORAL_CLI_PATH), stops it with open translations and with deliveries
 * that wait for their next attempt, and starts it on the present one (or NEW_TEMPORAL_CLI_PATH), whose database is
 * empty. All of it must end as promised, once. Ends with status 1 when anything is off. About 5 minutes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '../src/db/database.ts';
import { readStackRecord } from '../src/local/stack-file.ts';
import { temporaryFolder } from './support/engines.ts';
import { gatherEvidence } from './support/evidence.ts';
import { startLoad } from './support/load.ts';
import { print, seconds, table } from './support/report.ts';
import { createScriptService } from './support/service.ts';
import { startWitness } from './support/witness.ts';

const CREDITS = 100_000;
const LOAD_MS = 10_000;
const RUSH_MS = 400;
const READY_MS = 120_000;
/** What is open is looked for from two minutes of age on, once a minute; then come the waits of the attempts. */
const DRAIN_MS = 10 * 60_000;

const old = process.env.OLD_TEMPORAL_CLI_PATH;
if (old === undefined) throw new Error('Name an older Temporal executable in OLD_TEMPORAL_CLI_PATH.');
const folder = temporaryFolder();
const dataDir = join(folder.path, 'data');
const port = String(randomInt(20_000, 32_000));
const url = `http://127.0.0.1:${port}`;

async function start(cli: string | undefined): Promise<{ child: ChildProcess; databaseUrl: string }> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['src/local/main.ts'], {
    env: {
      ...{ PATH, HOME, PORT: port, DATA_DIR: dataDir, LOG_LEVEL: 'fatal' },
      ...{ RATE_LIMIT_PER_KEY: '0', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
      ...(cli === undefined ? {} : { TEMPORAL_CLI_PATH: cli }),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGTERM'));
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const ready = await fetch(`${url}/readyz`).catch(() => null);
    if (ready?.ok) break;
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('npm start did not get ready.');
    await sleep(100);
  }
  const databaseUrl = readStackRecord(dataDir)?.postgres?.databaseUrl;
  if (databaseUrl === undefined) throw new Error('stack.json names no database.');
  return { child, databaseUrl };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = await ended;
  if (code !== 0) throw new Error(`npm start ended with ${code}.`);
}

/** Translations without a result, and deliveries that have not ended, with those among them that were tried before. */
async function stillOpen(db: ReturnType<typeof createDatabase>) {
  const jobs = await db.selectFrom('jobs').select('id').where('ended_at', 'is', null).execute();
  const deliveries = await db.selectFrom('webhook_open').select('attempts').execute();
  return {
    jobs: jobs.length,
    deliveries: deliveries.length,
    retries: deliveries.filter(({ attempts }) => attempts > 0).length,
  };
}

try {
  print(`Starting on ${old}`);
  const before = await start(old);
  const service = createScriptService({
    databaseUrl: before.databaseUrl,
    temporalAddress: '',
    workflowBundle: '',
  });
  const workspace = await service.workspace('Upgrade');
  const witnesses = [
    await startWitness(service, workspace, 'quick', { delayMs: 0, refuse: 0 }),
    await startWitness(service, workspace, 'refusing', { delayMs: 0, refuse: 1 }),
  ];
  const common = { service, workspace, serverUrl: url, storeAtOnce: 1, storeEveryMs: 200 };
  const steady = await startLoad({ ...common, translateEveryMs: 200 });
  await sleep(LOAD_MS);
  await steady.stop();
  // More at once than the worker can have done when it is stopped.
  const rush = await startLoad({ ...common, translateEveryMs: 10 });
  await sleep(RUSH_MS);
  await rush.stop();
  const load = {
    stored: steady.stored.union(rush.stored),
    accepted: steady.accepted.union(rush.accepted),
  };
  await service.stop();
  await stop(before.child);

  const stoppedAt = Date.now();
  const after = await start(process.env.NEW_TEMPORAL_CLI_PATH);
  const db = createDatabase({ connectionString: after.databaseUrl, applicationName: 'script' });
  const left = await stillOpen(db);
  const problems: string[] = [];
  if (left.jobs === 0 || left.retries === 0)
    problems.push('nothing was open at the stop: the run shows nothing');
  print(`Open after the start on the new one: ${JSON.stringify(left)}`);
  for (let open = left; open.jobs + open.deliveries > 0 && Date.now() - stoppedAt < DRAIN_MS; ) {
    await sleep(5_000);
    open = await stillOpen(db);
    print(`${seconds(Date.now() - stoppedAt, 0).padStart(5)} s  ${JSON.stringify(open)}`);
  }

  const evidence = await gatherEvidence(db, load, witnesses);
  const jobs = await db.selectFrom('jobs').select(['article_id', 'status', 'consumed_credits']).execute();
  const wallet = await db
    .selectFrom('wallets')
    .select(['balance', 'reserved'])
    .where('workspace_id', '=', workspace.id)
    .executeTakeFirstOrThrow();
  const settlements = await db
    .selectFrom('ledger_entries')
    .select('id')
    .where('kind', '=', 'settlement')
    .execute();
  const charged = jobs.reduce((sum, job) => sum + job.consumed_credits, 0);
  const unfinished = jobs.filter(({ status }) => status !== 'COMPLETED');
  if (unfinished.length > 0) problems.push(`${unfinished.length} translations did not complete`);
  const translated = Map.groupBy(jobs, (job): string => job.article_id);
  const missing = [...load.accepted].filter((id) => translated.get(id)?.length !== 1);
  if (missing.length > 0) problems.push(`${missing.length} accepted translations have not exactly one job`);
  if (settlements.length !== jobs.length)
    problems.push(`${settlements.length} charges for ${jobs.length} jobs`);
  if (wallet.reserved !== 0 || wallet.balance !== CREDITS - charged)
    problems.push(`the wallet holds ${wallet.balance}, ${wallet.reserved} reserved, ${charged} charged`);
  problems.push(...evidence.problems);
  await db.destroy();
  await stop(after.child);
  for (const { receiver } of witnesses) await receiver.close();

  print(
    `Temporal's databases: ${readdirSync(join(dataDir, 'temporal')).filter((name) => name.endsWith('.db'))}`,
  );
  print(
    table([
      ['translations', 'events', 'deliveries', 'sends', 'answered 503', 'duplicates'],
      [
        jobs.length,
        evidence.events,
        evidence.deliveries,
        evidence.sends,
        evidence.refused,
        evidence.duplicates,
      ],
    ]),
  );
  for (const problem of problems.slice(0, 20)) print(`OFF: ${problem}`);
  print(problems.length === 0 ? 'Nothing was lost or doubled.' : `${problems.length} problems.`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  if (existsSync(folder.path) && process.exitCode === 0) folder.remove();
}

import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { readStackRecord } from '../../src/local/stack-file.ts';
import { drain } from './drain.ts';
import { migrate, temporaryFolder } from './engines.ts';
import { gatherEvidence } from './evidence.ts';
import { startLoad } from './load.ts';
import { conclude, figures, print, seconds, startClock } from './report.ts';
import { createScriptService } from './service.ts';
import { findUnsettled } from './settled.ts';
import { startWitness } from './witness.ts';

const LOAD_MS = 10_000;
const RUSH_MS = 400;
const READY_MS = 180_000;

/** One `npm start` on the data. */
export interface Side {
  /** For the report. */
  readonly name: string;
  /** The checkout, with its node_modules. */
  readonly folder: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Puts load on one `npm start`, ends it with open translations and with deliveries that wait for their next attempt, and
 * starts the other on its data. All of it must end as promised, once; otherwise the script's status is 1. The schema is
 * this checkout's from before the load on, as in an upgrade.
 * @param signal how the first one ends
 */
export async function handOver(before: Side, after: Side, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, 'data');
  const port = String(randomInt(20_000, 32_000));
  const url = `http://127.0.0.1:${port}`;

  async function start(side: Side): Promise<{ child: ChildProcess; databaseUrl: string }> {
    print(`Starting on ${side.name}`);
    const { PATH, HOME, TEMPORAL_CLI_PATH } = process.env;
    const child = spawn(process.execPath, ['src/local/main.ts'], {
      cwd: side.folder,
      env: {
        ...{ PATH, HOME, TEMPORAL_CLI_PATH, PORT: port, DATA_DIR: dataDir, LOG_LEVEL: 'fatal' },
        ...{
          RATE_LIMIT_PER_KEY: '0',
          WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
          RECONCILE_AFTER_SECONDS: '10',
        },
        ...side.env,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    process.once('exit', () => child.kill('SIGTERM'));
    const deadline = Date.now() + READY_MS;
    while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error('npm start did not get ready.');
      await sleep(100);
    }
    const databaseUrl = readStackRecord(dataDir)?.postgres?.databaseUrl;
    if (databaseUrl === undefined) throw new Error('stack.json names no database.');
    return { child, databaseUrl };
  }

  const first = await start(before);
  await migrate(first.databaseUrl);
  const engines = { databaseUrl: first.databaseUrl, temporalAddress: '', workflowBundle: '' };
  const service = createScriptService(engines);
  const workspace = await service.workspace('Upgrade');
  const witnesses = [
    await startWitness(service, workspace, 'quick', { delayMs: 0, refuse: 0 }),
    await startWitness(service, workspace, 'refusing', { delayMs: 0, refuse: 1 }),
  ];
  const common = { service, workspace, serverUrl: url, storeAtOnce: 1, storeEveryMs: 200 };
  const steady = await startLoad({ ...common, translateEveryMs: 200 });
  await sleep(LOAD_MS);
  await steady.stop();
  // More at once than the worker can have done when it ends.
  const rush = await startLoad({ ...common, translateEveryMs: 10 });
  await sleep(RUSH_MS);
  await rush.stop();
  const load = {
    stored: steady.stored.union(rush.stored),
    accepted: steady.accepted.union(rush.accepted),
  };
  await service.stop();
  const endedAt = Date.now();
  await end(first.child, signal);

  const second = await start(after);
  const downMs = Date.now() - endedAt;
  const db = createDatabase({ connectionString: second.databaseUrl, applicationName: 'script' });
  const left = await countOpen(db);
  print(`Open after ${seconds(downMs)} s: ${JSON.stringify(left)}`);
  const stillOpen = await drain(db, startClock());

  const evidence = await gatherEvidence(db, load, witnesses, [{ at: endedAt, downMs }]);
  const problems = [...stillOpen, ...evidence.problems, ...(await findUnsettled(db, workspace.id, load))];
  if (left.jobs === 0 || left.retries === 0)
    problems.push('nothing was open at the end: the run shows nothing');
  await db.destroy();
  await end(second.child, 'SIGTERM');
  for (const { receiver } of witnesses) await receiver.close();

  print(
    figures({
      translations: load.accepted.size,
      events: evidence.events,
      deliveries: evidence.deliveries,
      sends: evidence.sends,
      'refused (503)': evidence.refused,
      duplicates: evidence.duplicates,
    }),
  );
  conclude(problems, 'Nothing was lost or doubled.');
  if (problems.length === 0) folder.remove();
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const ended = once(child, 'exit');
  child.kill(signal);
  const [code] = await ended;
  if (signal === 'SIGTERM' && code !== 0) throw new Error(`npm start ended with ${code}.`);
}

/** Translations without a result, and deliveries that have not ended, with those among them that were tried before. */
async function countOpen(db: Database) {
  const jobs = await db.selectFrom('jobs').select('id').where('ended_at', 'is', null).execute();
  const deliveries = await db.selectFrom('webhook_open').select('attempts').execute();
  return {
    jobs: jobs.length,
    deliveries: deliveries.length,
    retries: deliveries.filter(({ attempts }) => attempts > 0).length,
  };
}

/**
 * A snapshot that somebody holds open, as a long report or a backup does: nothing that passes meanwhile can be vacuumed.
 * 500 deliveries a second, stored a hundred at once, pass for two minutes without it and for ten with it. The median of
 * the claims that take something, as Postgres times them, may double at most in any of the ten minutes. Ends with status 1 when it does not
 * hold.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startReceiver } from '../test/support/receiver.ts';
import { startDurableEngines } from './support/durable-engines.ts';
import { median, print, quantile, setting, table } from './support/report.ts';
import { countOpen, createScriptService } from './support/service.ts';
import { endOf, logPlans, readPlans } from './support/statement-times.ts';

const MINUTES = setting('SNAPSHOT_MINUTES', 10);
const BEFORE_MINUTES = 2;
const ENDPOINTS = 10;
const EVENTS_AT_ONCE = 10;
const EVERY_MS = 200;
const MAX_RATIO = 2;
const LOGGED_SHARE = 0.5;
/** A claim's plan in which rows were updated. */
const TOOK_SOME = /WITH RECURSIVE given AS MATERIALIZED[\s\S]*Update on webhook_open .*actual rows=[1-9]/;

const engines = await startDurableEngines();
const service = createScriptService(engines);
const receiver = await startReceiver();
const holder = new pg.Client({ connectionString: engines.databaseUrl });
const rows: (string | number)[][] = [
  ['minute', 'stored', 'open', 'claims', 'median ms', 'p95 ms', 'MiB of webhook_open'],
];
let isLoading = true;
let stored = 0;
let worst = 0;

try {
  await logPlans(service.db, LOGGED_SHARE);
  const workspace = await service.workspace('Snapshot');
  for (let n = 0; n < ENDPOINTS; n += 1) await service.register(workspace, `${receiver.url}/${n}`);
  await service.startWorker();
  const load = (async () => {
    for (let next = Date.now(); isLoading; next += EVERY_MS) {
      await service.emit(workspace, EVENTS_AT_ONCE);
      stored += EVENTS_AT_ONCE * ENDPOINTS;
      receiver.received.length = 0;
      await sleep(Math.max(0, next + EVERY_MS - Date.now()));
    }
  })();

  await sleep(20_000);

  /** The median of a minute's claims, in milliseconds. */
  const minute = async (name: string): Promise<number> => {
    const from = endOf(engines.postgresLog);
    const before = stored;
    await sleep(60_000);
    const plans = await readPlans(engines.postgresLog, from, endOf(engines.postgresLog));
    const claims = plans.flatMap(({ ms, plan }) => (TOOK_SOME.test(plan) ? [ms] : []));
    const { rows: size } = await holder.query(
      `SELECT pg_total_relation_size('webhook_open') / 1048576 AS mib`,
    );
    const figures = [median(claims), quantile(claims, 0.95)].map((ms) => ms.toFixed(2));
    rows.push([name, stored - before, await countOpen(service.db), claims.length, ...figures, size[0].mib]);
    print(rows.at(-1)?.join('  '));
    return median(claims);
  };

  await holder.connect();
  const alone: number[] = [];
  for (let n = 1; n <= BEFORE_MINUTES; n += 1) alone.push(await minute(`before ${n}`));
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT count(*) FROM webhook_open');
  for (let n = 1; n <= MINUTES; n += 1) {
    const ratio = (await minute(`held ${n}`)) / Math.max(...alone);
    worst = Math.max(worst, ratio);
  }
  await holder.query('COMMIT');
  isLoading = false;
  await load;
  for (let n = 0; n < 60 && (await countOpen(service.db)) > 0; n += 1) await sleep(1_000);
  const left = await countOpen(service.db);
  print(table(rows));
  print(
    `claims beside the snapshot, at most: ${worst.toFixed(2)} times those before it; promised ${MAX_RATIO}`,
  );
  if (left > 0) print(`${left} deliveries are still open after a minute`);
  process.exitCode = worst <= MAX_RATIO && left === 0 ? 0 : 1;
} finally {
  isLoading = false;
  await holder.end().catch(() => undefined);
  await service.stop();
  await receiver.close();
  await engines.stop();
}

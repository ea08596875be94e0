/**
 * Twenty million ended deliveries in the log, of twenty days and a hundred endpoints: every statement of the engine may
 * take half as long again as with a log of twenty thousand, as Postgres times it. The same load before and after: single
 * events and crowds, some of them refused at first, and people's requests: listing deliveries, repeating, disabling and
 * deleting. Ends with status 1 when a statement takes longer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { EndpointId } from '../src/ids.ts';
import { listOpenDeliveries, readDeliveryDetail } from '../src/webhooks/deliveries/read.ts';
import { redeliver } from '../src/webhooks/deliveries/redeliver.ts';
import { redeliverRange } from '../src/webhooks/deliveries/redeliver-range.ts';
import { deleteEndpoint } from '../src/webhooks/endpoints/delete.ts';
import { emptyDeletedEndpoints } from '../src/webhooks/endpoints/empty.ts';
import { listWebhooks } from '../src/webhooks/endpoints/list.ts';
import { startReceiver } from '../test/support/receiver.ts';
import { startDurableEngines } from './support/durable-engines.ts';
import { median, print, setting, startClock, table } from './support/report.ts';
import { createScriptService } from './support/service.ts';
import { endOf, logStatements, readTimes, type StatementTimes } from './support/statement-times.ts';

const MILLIONS = setting('LARGE_LOG_MILLIONS', 20);
const LOAD_MS = setting('LARGE_LOG_SECONDS', 90) * 1_000;
const DAYS = 20;
const ENDPOINTS = 20;
const OTHERS = 80;
const CROWD = 20;
/** In the small log. */
const FEW = 20_000;
const MAX_RATIO = 1.5;
/** Milliseconds: less than this is the clock's and the machine's. */
const NOISE_MS = 0.1;
const FEWEST = 20;

const note = startClock();
const engines = await startDurableEngines();
const service = createScriptService(engines);
const { db } = service;
const receiver = await startReceiver();
let requests = 0;
receiver.answer = () => {
  requests += 1;
  return requests % 20 === 0 ? 503 : 204;
};

/** Partitions of the days before, as many with the small log as with the full one. */
async function makePastPartitions(): Promise<void> {
  for (let day = 1; day <= DAYS; day += 1) {
    const [from, to] = [day, day - 1].map((ago) =>
      sql.lit(`${new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`),
    );
    await sql`CREATE TABLE ${sql.table(`webhook_log_past_${day}`)} PARTITION OF webhook_log
      FOR VALUES FROM (${from}) TO (${to})`.execute(db);
  }
}

/** A day's share of the log: one of a hundred has failed. */
const fillDay = (day: number, endpoints: readonly EndpointId[], rows: number) =>
  sql`
  INSERT INTO webhook_log (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, status, attempts,
    response_status, error_message, attempt_log, in_run, delivered_at, ended_at, created_at)
  SELECT id, workspace_id, endpoint_id, uuidv7(back), created_at, 'article.created',
    CASE WHEN failed THEN 'failed' ELSE 'succeeded' END, 1, CASE WHEN failed THEN 400 ELSE 204 END,
    CASE WHEN failed THEN 'The receiver responded with 400.' END,
    '[{"number":1,"startedAt":"2026-01-01T00:00:00.000Z","durationMs":5,"responseStatus":204,"errorMessage":null,"responseBody":""}]',
    false, CASE WHEN NOT failed THEN created_at END, created_at, created_at
  FROM (
    SELECT numbered.*, endpoint.id AS endpoint_id, endpoint.workspace_id, n % 100 = 0 AS failed,
      uuid_extract_timestamp(numbered.id)::timestamptz(3) AS created_at
    FROM (SELECT n, back, uuidv7(back) AS id
          FROM (SELECT n, date_trunc('day', now(), 'UTC') - now() - make_interval(days => ${day - 1})
                       - make_interval(secs => 1 + 86390.0 * n / ${rows}::integer) AS back
                FROM generate_series(1, ${rows}::integer) AS n) AS numbers OFFSET 0) AS numbered
    JOIN (SELECT id, workspace_id, row_number() OVER (ORDER BY id) AS position FROM webhook_endpoints
          WHERE id = ANY (${endpoints}::uuid[])) AS endpoint
      ON endpoint.position = n % ${endpoints.length}::integer + 1
  ) AS rows`.execute(db);

try {
  const workspace = await service.workspace('Large log');
  const other = await service.workspace('Others');
  const endpoints: EndpointId[] = [];
  const register = async (of: typeof workspace, path: string) =>
    (await service.register(of, `${receiver.url}/${path}`)).id;
  for (let n = 0; n < ENDPOINTS; n += 1) endpoints.push(await register(workspace, String(n)));
  for (let n = 0; n < OTHERS; n += 1) endpoints.push(await register(other, `other-${n}`));
  await makePastPartitions();
  await service.startWorker();
  await logStatements(db, 1);

  const { context } = workspace;
  const newest = async () =>
    db
      .selectFrom('webhook_log')
      .select('id')
      .where('workspace_id', '=', workspace.id)
      .where('created_at', '>', new Date(Date.now() - 60_000))
      .orderBy('created_at', 'desc')
      .limit(1)
      .executeTakeFirst();
  /** The load; the statements that it took, and how long each. */
  const measure = async (): Promise<StatementTimes> => {
    const from = endOf(engines.postgresLog);
    const end = Date.now() + LOAD_MS;
    for (let round = 0; Date.now() < end; round += 1) {
      await service.emit(workspace, round % 10 === 0 ? CROWD : 1);
      await listWebhooks(context, {});
      await listWebhooks(context, { deliveryStatus: 'failed' });
      const [endpoint] = endpoints;
      if (endpoint !== undefined) await listOpenDeliveries(context, endpoint);
      const ended = await newest();
      if (ended !== undefined) {
        await readDeliveryDetail(context, ended.id);
        await redeliver(context, ended.id);
      }
      if (round % 10 === 5) {
        const id = await register(workspace, `passing-${round}`);
        await service.emit(workspace, 1);
        const since = new Date(Date.now() - 3_600_000);
        await redeliverRange(context, id, { since, status: 'failed', dryRun: false });
        await deleteEndpoint({ ...context, runCanceller: { cancel: () => undefined } }, id);
        await emptyDeletedEndpoints({
          db,
          onProgress: () => undefined,
          onError: (_, error) => note(String(error)),
        });
      }
      receiver.received.length = 0;
      await sleep(50);
    }
    return readTimes(engines.postgresLog, from, endOf(engines.postgresLog));
  };

  await sleep(5_000);
  for (let day = 1; day <= DAYS; day += 1) await fillDay(day, endpoints, FEW / DAYS);
  await sql`VACUUM ANALYZE webhook_log`.execute(db);
  note(`${ENDPOINTS + OTHERS} endpoints, ${DAYS} days and ${FEW} ended deliveries; the load begins`);
  await measure();
  const before = await measure();
  note('the log is filled');
  await sql`ALTER SYSTEM SET log_statement_sample_rate = 0`.execute(db);
  await sql`SELECT pg_reload_conf()`.execute(db);
  for (let day = 1; day <= DAYS; day += 1) {
    for (let part = 0; part < MILLIONS; part += 1) await fillDay(day, endpoints, 1_000_000 / DAYS);
    note(`${day} of ${DAYS} days`);
  }
  await sql`VACUUM ANALYZE webhook_log`.execute(db);
  const { rows: sizes } = await sql<{ rows: string; size: string }>`
    SELECT count(*) AS rows, pg_size_pretty(sum(pg_total_relation_size(inhrelid))) AS size
    FROM pg_inherits WHERE inhparent = 'webhook_log'::regclass`.execute(db);
  note(`the log has ${sizes[0]?.rows} partitions and ${sizes[0]?.size}`);
  await logStatements(db, 1);
  await measure();
  const after = await measure();

  const rows: (string | number)[][] = [];
  let tooSlow = 0;
  for (const [statement, times] of before) {
    const later = after.get(statement) ?? [];
    // The last is this script's own.
    if (
      times.length < FEWEST ||
      later.length < FEWEST ||
      statement.includes('select "id" from "webhook_log"')
    )
      continue;
    const [alone, beside] = [median(times), median(later)];
    const isSlow = beside > alone * MAX_RATIO && beside - alone > NOISE_MS;
    if (isSlow) tooSlow += 1;
    const ratio = (beside / alone).toFixed(2);
    rows.push([
      statement,
      times.length,
      alone.toFixed(3),
      beside.toFixed(3),
      ratio,
      isSlow ? 'too slow' : '',
    ]);
  }
  rows.sort((one, another) => Number(another[3]) - Number(one[3]));
  print(table([['statement', 'times', 'small ms', 'full ms', 'ratio', ''], ...rows]));
  note(`${tooSlow} of ${rows.length} statements take over ${MAX_RATIO} times as long`);
  process.exitCode = tooSlow === 0 && rows.length > 0 ? 0 : 1;
} finally {
  await service.stop();
  await receiver.close();
  await engines.stop();
}

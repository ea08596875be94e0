/**
 * Pulling events through `npm start`: a client that is a million events behind, with 500 a request, alone and, at
 * 5,000 a second, beside writers of single events, whose times are compared with those while nobody reads; then how long after its commit an event is in a
 * plain GET, and in one that waits, at a steady pace.
 *
 * Environment: BENCH_EVENTS (1000000) behind, BENCH_ROUNDS (3), BENCH_SECONDS (10) of each measurement of writers,
 * BENCH_SINGLES (300) of each lag.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { Pool } from 'undici';
import { temporaryFolder } from '../../soak/support/engines.ts';
import { median, print, quantile, setting } from '../../soak/support/report.ts';
import { createScriptService } from '../../soak/support/service.ts';
import { readStackRecord } from '../../src/local/stack-file.ts';
import { launch, ready } from '../../test/support/start.ts';
import { type Comparison, type Figure, report } from '../lib/suite.ts';

const EVENTS = setting('BENCH_EVENTS', 1_000_000);
const ROUNDS = setting('BENCH_ROUNDS', 3);
const SECONDS = setting('BENCH_SECONDS', 10);
const SINGLES = setting('BENCH_SINGLES', 300);
const BATCH = 50_000;
/** Events a second of a reader beside writers. */
const PACE = 5_000;

const folder = temporaryFolder();
const start = launch('src/local/main.ts', {
  DATA_DIR: folder.path,
  RATE_LIMIT_PER_KEY: '0',
  RATE_LIMIT_PER_WORKSPACE: '0',
  RATE_LIMIT_PER_ADDRESS: '0',
  METRICS_PORT: '0',
});
const serviceUrl = await ready(start);
const stack = readStackRecord(folder.path);
if (!stack?.postgres || !stack.temporal) throw new Error('stack.json does not name both engines');
const { databaseUrl } = stack.postgres;
const script = createScriptService({
  databaseUrl,
  temporalAddress: stack.temporal.address,
  workflowBundle: '',
});
const { db } = script;
const pool = new Pool(serviceUrl, { connections: 4 });
const workspace = await script.workspace('Bench');

interface Page {
  readonly events: readonly { readonly id: string; readonly articleId: string }[];
  readonly cursor: string;
  readonly more: boolean;
}

async function pull(query: Record<string, string>): Promise<Page> {
  const { statusCode, body } = await pool.request({
    method: 'GET',
    path: `/api/workspaces/${workspace.id}/events?${new URLSearchParams(query)}`,
    headers: { authorization: `Bearer ${workspace.key}` },
  });
  if (statusCode !== 200) throw new Error(`${statusCode} ${await body.text()}`);
  return (await body.json()) as Page;
}

/** Milliseconds of single events by 8 writers of another process. */
async function writeSingles(): Promise<number[]> {
  const child = fork(new URL('writer.ts', import.meta.url), {
    env: { ...process.env, DATABASE_URL: databaseUrl, WORKSPACE: workspace.id, SECONDS: String(SECONDS) },
  });
  const [times] = (await once(child, 'message')) as [number[]];
  return times;
}

/** Stores events as an outage of their reader leaves them, and waits until they are numbered. */
async function storeBehind(): Promise<void> {
  for (let stored = 0; stored < EVENTS; stored += BATCH) {
    await sql`
      WITH stored AS (
        INSERT INTO events (id, workspace_id, type, article_id, body, created_at)
        SELECT id, ${workspace.id}, 'article.updated', gen_random_uuid(), convert_to(json_build_object(
          'event', 'article.updated', 'data', json_build_object('articleId', id, 'title', repeat('Garden ', 40)))::text, 'UTF8'),
          uuid_extract_timestamp(id)
        FROM (SELECT uuidv7() AS id FROM generate_series(1, ${Math.min(BATCH, EVENTS - stored)}::integer)) AS made
        RETURNING id, created_at)
      INSERT INTO event_queue (workspace_id, event_id, event_created_at)
      SELECT ${workspace.id}, id, created_at FROM stored ORDER BY id`.execute(db);
  }
  const startedAt = performance.now();
  for (;;) {
    const { rows } = await sql<{ left: boolean }>`SELECT EXISTS (SELECT FROM event_queue) AS left`.execute(
      db,
    );
    if (rows[0]?.left === false) break;
    await sleep(50);
  }
  print(`${EVENTS} events numbered in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
}

/** Reads {@link PACE} events a second from a cursor on until `isOver`, from the same cursor again at the end. @returns events, and how long it took */
async function readBehind(
  after: string,
  isOver: () => boolean,
): Promise<{ events: number; seconds: number }> {
  const startedAt = performance.now();
  let events = 0;
  for (let cursor = after; !isOver(); ) {
    const page = await pull({ after: cursor, limit: '500' });
    events += page.events.length;
    cursor = page.more ? page.cursor : after;
    await sleep(Math.max(0, (events / PACE) * 1_000 - (performance.now() - startedAt)));
  }
  return { events, seconds: (performance.now() - startedAt) / 1_000 };
}

/** Milliseconds from an event's commit until a client has it. */
async function lags(wait: boolean): Promise<number[]> {
  const values: number[] = [];
  let { cursor } = await pull({ after: 'latest' });
  for (let single = 0; single < SINGLES; single += 1) {
    const pending = wait ? pull({ after: cursor, wait: '10' }) : null;
    await sleep(40 + ((single * 37) % 300));
    const { committedAt } = await script.emit(workspace, 1);
    let page = pending === null ? await pull({ after: cursor }) : await pending;
    while (page.events.length === 0) page = await pull({ after: cursor });
    values.push(Date.now() - committedAt);
    cursor = page.cursor;
  }
  return values;
}

const { cursor: beginning } = await pull({ after: 'latest' });
await storeBehind();
const before = { alone: [] as number[], beside: [] as number[], rate: [] as number[] };
// Until both run as compiled as they will.
await writeSingles();
for (let round = 1; round <= ROUNDS; round += 1) {
  const alone = await writeSingles();
  let isOver = false;
  const reading = readBehind(beginning, () => isOver);
  const beside = await writeSingles();
  isOver = true;
  const { events, seconds } = await reading;
  before.alone.push(quantile(alone, 0.5));
  before.beside.push(quantile(beside, 0.5));
  before.rate.push(events / seconds);
  print(
    `round ${round}: ${Math.round(events / seconds)} events/s read beside ${beside.length / SECONDS} writes/s of ` +
      `${quantile(beside, 0.5).toFixed(1)} ms (p99 ${quantile(beside, 0.99).toFixed(1)}); alone ${alone.length / SECONDS} of ` +
      `${quantile(alone, 0.5).toFixed(1)} (p99 ${quantile(alone, 0.99).toFixed(1)})`,
  );
}
const whole = await (async () => {
  const startedAt = performance.now();
  let events = 0;
  for (let cursor = beginning, more = true; more; ) {
    const page = await pull({ after: cursor, limit: '500' });
    events += page.events.length;
    ({ cursor, more } = page);
  }
  return events / ((performance.now() - startedAt) / 1_000);
})();
const plain = await lags(false);
const waiting = await lags(true);
print(
  `a client ${EVENTS} behind alone: ${Math.round(whole)} events/s; beside writers ${Math.round(median(before.rate))}`,
);
print(
  `in a plain GET after p50 ${quantile(plain, 0.5).toFixed(0)}, p99 ${quantile(plain, 0.99).toFixed(0)} ms; ` +
    `in a waiting one p50 ${quantile(waiting, 0.5).toFixed(0)}, p99 ${quantile(waiting, 0.99).toFixed(0)} ms`,
);
await pool.close();
await script.stop();
start.child.kill('SIGTERM');
await once(start.child, 'exit');
folder.remove();

const comparisons: Comparison[] = [
  {
    name: `ms of a single event by 8 writers, beside a reader of ${PACE} events/s; bare: nobody reads`,
    higherIsBetter: false,
    ours: before.beside,
    bare: before.alone,
  },
  {
    name: 'events a second, read 500 a request by one client; bare: 5,000',
    higherIsBetter: true,
    ours: [whole],
    bare: [5_000],
    promised: 1,
  },
  {
    name: 'ms until an event is in a plain GET, p99; bare: 100',
    higherIsBetter: false,
    ours: [quantile(plain, 0.99)],
    bare: [100],
    promised: 1,
  },
  {
    name: 'ms until an event is in a waiting GET, p99; bare: 350',
    higherIsBetter: false,
    ours: [quantile(waiting, 0.99)],
    bare: [350],
    promised: 1,
  },
];
const figures: Figure[] = [{ name: 'events a second, read beside 8 writers', values: before.rate }];
report('pull', comparisons, figures);

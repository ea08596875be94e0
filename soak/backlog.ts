/**
 * An endpoint that is behind by very many events: it is paused, its deliveries pass the bound, a worker marks it, and the
 * rest waits in the event log. Then it is resumed. Each event has to arrive, to have one delivery, and the table of open
 * deliveries to stay within its bounds; events that are stored meanwhile, late ones among them, count as well. Ends with
 * status 1 otherwise.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { inTransaction } from '../src/db/transaction.ts';
import { recordEvents } from '../src/events/record.ts';
import { BACKLOG_BOUNDS } from '../src/webhooks/backlog/states.ts';
import { articleEvents } from '../test/support/events.ts';
import { startReceiver } from '../test/support/receiver.ts';
import { startDurableEngines } from './support/durable-engines.ts';
import { conclude, setting, startClock } from './support/report.ts';
import { countOpen, createScriptService } from './support/service.ts';

const EVENTS = setting('BACKLOG_EVENTS', 100_000);
const WORKERS = setting('BACKLOG_WORKERS', 2);
const TOGETHER = 1_000;
/** Longest time without an event that arrives. */
const PATIENCE_MS = 60_000;

const note = startClock();
const engines = await startDurableEngines();
const service = createScriptService(engines);
const { db } = service;
const receiver = await startReceiver();
const problems: string[] = [];
const arrived = new Map<string, number>();
/** Takes what has arrived out of the receiver's memory. */
function collect(): void {
  for (const { headers } of receiver.received.splice(0)) {
    const id = String(headers['webhook-id']);
    arrived.set(id, (arrived.get(id) ?? 0) + 1);
  }
}

try {
  const workspace = await service.workspace('Behind');
  const { id: endpoint } = await service.register(workspace, receiver.url);
  const pause = (paused_at: Date | null) =>
    db.updateTable('webhook_endpoints').set({ paused_at }).where('id', '=', endpoint).execute();
  const isBehind = async () =>
    (await db.selectFrom('webhook_backlogs').select('endpoint_id').execute()).length > 0;
  await pause(new Date());
  for (let count = 0; count < WORKERS; count += 1) await service.startWorker();
  let stored = 0;
  const store = async (count = TOGETHER) => {
    await service.emit(workspace, count);
    stored += count;
  };
  while (stored <= BACKLOG_BOUNDS.mark) await store();
  while (!(await isBehind())) await sleep(500);
  note(`behind with ${await countOpen(db)} open deliveries`);
  const openBefore = await countOpen(db);
  while (stored < EVENTS) await store();
  if ((await countOpen(db)) !== openBefore)
    problems.push('events queued deliveries for an endpoint that is behind');
  note(`${stored} events are stored`);

  await pause(null);
  const began = performance.now();
  const bound = BACKLOG_BOUNDS.mark + TOGETHER;
  let mostOpen = 0;
  let lastArrival = performance.now();
  const commitLate = async () => {
    await inTransaction(db, async (tx) => {
      await recordEvents(tx, workspace.context, articleEvents(1));
      await sleep(2_000);
    });
    stored += 1;
  };
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      const late = commitLate();
      for (let count = 0; count < 20 && !isOver; count += 1) {
        await store(1);
        await sleep(50);
      }
      await late;
    }
  })();
  for (let seconds = 0; ; seconds += 1) {
    await sleep(1_000);
    const before = arrived.size;
    collect();
    if (arrived.size > before) lastArrival = performance.now();
    mostOpen = Math.max(mostOpen, seconds === 0 ? 0 : await countOpen(db));
    if (seconds % 10 === 9) note(`${arrived.size} of ${stored} have arrived`);
    if (!isOver && !(await isBehind())) {
      isOver = true;
      await writing;
      const took = (performance.now() - began) / 1_000;
      note(`caught up after ${took.toFixed(0)} s, ${(arrived.size / took).toFixed(0)} a second`);
    }
    if (isOver && arrived.size >= stored && (await countOpen(db)) === 0) break;
    if (performance.now() - lastArrival > PATIENCE_MS) {
      problems.push(`nothing arrives any more: ${arrived.size} of ${stored}`);
      isOver = true;
      break;
    }
  }
  await writing;
  collect();
  const { rows } = await sql<{ deliveries: number; events: number }>`
    SELECT count(*)::integer AS deliveries, count(DISTINCT event_id)::integer AS events
    FROM webhook_log WHERE endpoint_id = ${endpoint}`.execute(db);
  const [{ deliveries, events } = { deliveries: 0, events: 0 }] = rows;
  const twice = [...arrived.values()].filter((times) => times > 1).length;
  note(
    `${stored} events, ${deliveries} deliveries of ${events}, ${arrived.size} arrived, ${twice} twice; at most ${mostOpen} open`,
  );
  if (deliveries !== stored || events !== stored) problems.push('not each event has one delivery');
  if (arrived.size !== stored || twice > 0) problems.push('not each event has arrived once');
  if (mostOpen > bound) problems.push(`${mostOpen} deliveries were open at once`);
} finally {
  await service.stop();
  await receiver.close();
  await engines.stop();
}
conclude(problems, 'each event has arrived once');

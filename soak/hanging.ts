/**
 * A receiver that hangs for an hour, in real time, and comes back: nothing is lost, and nothing was given up whose six
 * attempts were not made. Meanwhile another workspace's events arrive as ever. Ends with status 1 when anything is off.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_ATTEMPTS } from '../src/webhooks/attempts/schedule.ts';
import { rowsOf } from '../test/support/events.ts';
import { startReceiver } from '../test/support/receiver.ts';
import { startEphemeralEngines } from './support/engines.ts';
import { conclude, median, print, quantile, seconds, setting } from './support/report.ts';
import { createScriptService, untilDelivered } from './support/service.ts';

const HANG_MS = setting('HANGING_MINUTES', 60) * 60_000;
/** Deliveries that are due when it begins to hang: more than it can be sent within the hour. */
const AT_ONCE = setting('HANGING_EVENTS', 2_000);
const EVERY_MS = 2_000;
const PROGRESS_MS = 60_000;
/** As long as the longest wait before an attempt, and the rest of the deliveries. */
const DRAIN_MS = 20 * 60_000;
const NO_RESPONSE = 'No response came within 15 seconds.';

const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const [hanging, other] = [await startReceiver(), await startReceiver()];
hanging.answer = () => new Promise<number>(() => undefined);
const problems: string[] = [];
const check = (holds: boolean, problem: string) => void (holds || problems.push(problem));
try {
  const [busy, quiet] = await service.subscribe([hanging.url, other.url]);
  if (busy === undefined || quiet === undefined) throw new Error('no workspaces');
  await service.startWorker();
  const committed = new Map<unknown, number>();
  let stored = AT_ONCE;
  await service.emit(busy, AT_ONCE);
  print(`${AT_ONCE} deliveries stored for a receiver that hangs for ${HANG_MS / 60_000} minutes`);
  let printedAt = Date.now();
  for (const end = Date.now() + HANG_MS; Date.now() < end; await sleep(EVERY_MS)) {
    await service.emit(busy);
    stored += 1;
    const { committedAt, articleIds } = await service.emit(quiet);
    for (const id of articleIds) committed.set(id, committedAt);
    if (Date.now() - printedAt < PROGRESS_MS) continue;
    printedAt = Date.now();
    print(`${stored} stored, ${hanging.received.length} requests to the receiver that hangs`);
  }
  const backAt = Date.now();
  const unanswered = hanging.received.length;
  hanging.answer = () => 204;
  print(`the receiver is back after ${unanswered} requests`);
  await untilDelivered(service.db, 1_000, DRAIN_MS);
  print(`all deliveries have ended ${seconds(Date.now() - backAt, 0)} s later`);

  const rows = await rowsOf(service, busy);
  const taken = new Set(
    hanging.received.slice(unanswered).map(({ headers }) => headers['x-service-delivery']),
  );
  const givenUp = rows.filter(({ status }) => status === 'failed');
  check(rows.length === stored, `${rows.length} deliveries of ${stored}`);
  check(new Set(rows.map(({ event_id }) => event_id)).size === stored, 'not each event has one delivery');
  for (const { id, status, attempts, attempt_log, error_message } of rows) {
    if (status === 'succeeded') check(taken.has(id), `${id} is delivered and did not arrive`);
    else
      check(
        attempts === MAX_ATTEMPTS && attempt_log.length === MAX_ATTEMPTS && error_message === NO_RESPONSE,
        `${id}: ${status} after ${attempts} attempts, ${error_message}`,
      );
  }
  print(
    `${rows.length - givenUp.length} delivered, ${givenUp.length} given up after ${MAX_ATTEMPTS} attempts`,
  );
  const latencies = other.received.map(
    ({ at, body }) => at - (committed.get(body.data.articleId) ?? Number.NaN),
  );
  check(
    latencies.length === committed.size,
    `${latencies.length} of ${committed.size} events beside it arrived`,
  );
  print(
    `another workspace's events arrived after ${median(latencies)} ms, p95 ${quantile(latencies, 0.95)}, longest ${quantile(latencies, 1)}`,
  );
} finally {
  await service.stop();
  await hanging.close();
  await other.close();
  await engines.stop();
}
conclude(problems, 'Nothing was lost, and nothing given up before its six attempts.');

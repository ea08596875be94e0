/**
 * Runs the whole retry schedule in real time (about 15.5 minutes) against receivers that always respond 503, of
 * deliveries in runs and of others that bursts send, and compares the waits with contract.md D8: never early, and at
 * most a second late. Ends with status 1 when anything is off.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_ATTEMPTS, waitAfter } from '../src/webhooks/attempts/schedule.ts';
import type { DeliveryRow } from '../test/support/events.ts';
import { rowsOf } from '../test/support/events.ts';
import { type Received, startReceiver } from '../test/support/receiver.ts';
import { startEphemeralEngines } from './support/engines.ts';
import { conclude, median, print, seconds, table } from './support/report.ts';
import { countOpen, createScriptService, type ScriptWorkspace } from './support/service.ts';

const IN_RUNS = 5;
const IN_BURSTS = 20;
/** Milliseconds that an attempt may come late; early only by what times are rounded to. */
const LATE_MS = 1_000;
const ROUNDING_MS = 5;
const LONGEST_MS = 17 * 60_000;

const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const receiver = await startReceiver();
receiver.answer = () => 503;
const problems: string[] = [];
const check = (holds: boolean, problem: string) => void (holds || problems.push(problem));

/** What arrived of each delivery. */
const arrivals = () =>
  Map.groupBy(receiver.received, ({ headers }) => headers['x-service-delivery'] ?? 'no id');

/** For each attempt after the first: how late it arrived, in milliseconds. */
function lateness({ id, attempt_log }: DeliveryRow, requests: readonly Received[]): number[] {
  check(attempt_log.length === MAX_ATTEMPTS, `${id}: ${attempt_log.length} attempts logged`);
  check(requests.length === MAX_ATTEMPTS, `${id}: ${requests.length} requests received`);
  const signatures = new Set(requests.map(({ headers }) => headers['x-service-signature']));
  check(signatures.size === requests.length, `${id}: a signature was used twice`);
  return attempt_log.slice(0, -1).map(({ number, startedAt, durationMs, responseStatus }) => {
    const respondedAt = Date.parse(startedAt) + durationMs;
    const late = (requests[number]?.at ?? Number.NaN) - respondedAt - waitAfter(number);
    check(responseStatus === 503, `${id}: attempt ${number} has status ${responseStatus}`);
    check(
      late >= -ROUNDING_MS && late <= LATE_MS,
      `${id}: attempt ${number + 1} came ${seconds(late)} s late`,
    );
    return late;
  });
}

function judge(way: string, rows: readonly DeliveryRow[]): (string | number)[][] {
  const requestsOf = arrivals();
  const late = rows.map((row) => lateness(row, requestsOf.get(row.id) ?? []));
  for (const { id, status, attempts, error_message } of rows)
    check(
      status === 'failed' && attempts === MAX_ATTEMPTS,
      `${id}: ${status}, ${attempts}, ${error_message}`,
    );
  return Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => {
    const values = late.map((of) => of[index] ?? Number.NaN);
    const cells = [Math.min(...values), median(values), Math.max(...values)].map((ms) => seconds(ms, 3));
    return [way, rows.length, index + 2, seconds(waitAfter(index + 1), 0), ...cells];
  });
}

async function untilAll(
  workspace: ScriptWorkspace,
  condition: (row: DeliveryRow) => boolean,
  timeoutMs: number,
): Promise<DeliveryRow[]> {
  for (const deadline = Date.now() + timeoutMs; ; await sleep(500)) {
    const rows = await rowsOf(service, workspace);
    if (rows.every(condition) || Date.now() > deadline) return rows;
  }
}

try {
  const runs = await service.workspace('Runs');
  const bursts = await service.workspace('Bursts');
  for (const workspace of [runs, bursts]) await service.register(workspace, receiver.url);
  const first = await service.startWorker();
  await service.emit(runs, IN_RUNS);
  await untilAll(runs, ({ attempts }) => attempts === 1, 30_000);
  first.kill('SIGTERM');
  await first.ended;
  // What is in a run stays there; this one gives nothing else to runs.
  await service.startWorker({ WEBHOOK_RUNS_PER_SECOND: '0' });
  await service.emit(bursts, IN_BURSTS);
  print(`${IN_RUNS} deliveries in runs and ${IN_BURSTS} for bursts stored; about 15.5 minutes`);
  const hasEnded = ({ ended_at }: DeliveryRow) => ended_at !== null;
  const ofRuns = await untilAll(runs, hasEnded, LONGEST_MS);
  const ofBursts = await untilAll(bursts, hasEnded, LONGEST_MS);
  check(
    ofRuns.every(({ in_run }) => in_run),
    'a delivery was not in a run',
  );
  check(
    ofBursts.every(({ burst_id }) => burst_id !== null),
    'a delivery was not in a burst',
  );
  print(
    table([
      ['way', 'deliveries', 'attempt', 'wait s', 'late s, least', 'median', 'most'],
      ...judge('run', ofRuns),
      ...judge('burst', ofBursts),
    ]),
  );
  const open = await countOpen(service.db);
  check(open === 0, `${open} deliveries still open`);
} finally {
  await service.stop();
  await receiver.close();
  await engines.stop();
}
conclude(problems, 'The schedule holds.');

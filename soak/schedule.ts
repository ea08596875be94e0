/**
 * Runs the whole retry schedule in real time (about 15.5 minutes) against a receiver that always answers 503, and
 * compares the waits with contract.md D8. Ends with status 1 when anything is off.
 */
import { MAX_ATTEMPTS, waitAfter } from '../src/webhooks/attempts/schedule.ts';
import { startReceiver } from '../test/support/receiver.ts';
import { eventually } from '../test/support/wait.ts';
import { startEphemeralEngines } from './support/engines.ts';
import { print, seconds, table } from './support/report.ts';
import { createScriptService } from './support/service.ts';

const TOLERANCE_MS = 2_000;
const LONGEST_MS = 17 * 60_000;

const engines = await startEphemeralEngines();
const service = createScriptService(engines);
const receiver = await startReceiver();
const answeredAt: number[] = [];
receiver.answer = () => {
  answeredAt.push(Date.now());
  print(`${new Date().toISOString()}  attempt ${answeredAt.length} arrived, answered 503`);
  return 503;
};
const problems: string[] = [];
const check = (holds: boolean, problem: string) => void (holds || problems.push(problem));

try {
  const workspace = await service.workspace('Schedule');
  await service.register(workspace, receiver.url);
  await service.startWorker();
  await service.emit(workspace);
  const delivery = await eventually(
    () => service.db.selectFrom('webhook_deliveries').selectAll().executeTakeFirstOrThrow(),
    (row) => row.ended_at !== null,
    LONGEST_MS,
  );
  const attempts = await service.db
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('delivery_id', '=', delivery.id)
    .orderBy('number')
    .execute();

  const rows: (string | number)[][] = [['attempt', 'arrived', 'took ms', 'wait s', 'wanted s', 'off by s']];
  for (const [index, { number, duration_ms, response_status }] of attempts.entries()) {
    const arrived = receiver.received[index]?.at ?? Number.NaN;
    const previous = attempts[index - 1];
    const cells: string[] = ['-', '-', '-'];
    if (previous !== undefined) {
      const wait = arrived - (previous.started_at.getTime() + previous.duration_ms);
      const wanted = waitAfter(previous.number);
      cells.splice(0, 3, seconds(wait), seconds(wanted, 0), seconds(wait - wanted));
      check(Math.abs(wait - wanted) <= TOLERANCE_MS, `wait before attempt ${number}: ${seconds(wait)} s`);
    }
    rows.push([number, new Date(arrived).toISOString().slice(11, 23), duration_ms, ...cells]);
    check(response_status === 503, `attempt ${number}: status ${response_status}`);
  }
  print(table(rows));
  check(attempts.length === MAX_ATTEMPTS, `${attempts.length} attempts logged`);
  check(receiver.received.length === MAX_ATTEMPTS, `${receiver.received.length} requests received`);
  const header = (name: string) => new Set(receiver.received.map(({ headers }) => headers[name]));
  check(header('x-service-delivery').size === 1, 'the delivery id changed between attempts');
  check(header('x-service-signature').size === MAX_ATTEMPTS, 'a signature was used twice');
  check(delivery.status === 'failed', `status ${delivery.status}`);
  check(delivery.attempts === MAX_ATTEMPTS, `attempts ${delivery.attempts}`);
  check(delivery.next_attempt_at === null, 'a next attempt is still planned');
  print(`delivery: ${delivery.status}, ${delivery.attempts} attempts, ${delivery.error_message}`);
} finally {
  await service.stop();
  await receiver.close();
  await engines.stop();
}
for (const problem of problems) print(`OFF: ${problem}`);
print(problems.length === 0 ? 'The schedule holds.' : 'The schedule does not hold.');
process.exitCode = problems.length === 0 ? 0 : 1;

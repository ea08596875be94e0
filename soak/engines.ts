/**
 * Kills Postgres and Temporal of `npm start` in turn with -9 under load, KILL_ROUNDS times (10). Each time the service
 * must be ready again by itself within 15 s; in the end every event has reached its receivers under one delivery id,
 * every accepted translation is there and charged once, and SIGTERM ends everything with status 0. Ends with status 1
 * when anything is off. About five minutes.
 */
import { killEngines } from './support/engine-kills.ts';
import { temporaryFolder } from './support/engines.ts';
import { conclude, figures, median, print, seconds, setting, startClock, table } from './support/report.ts';

const ROUNDS = setting('KILL_ROUNDS', 10);
const READY_WITHIN_MS = 15_000;

const folder = temporaryFolder();
try {
  const { kills, load, evidence, output, ...found } = await killEngines(folder.path, ROUNDS, startClock());
  const problems = [...found.problems];
  const late = kills.filter(({ readyAfterMs }) => readyAfterMs > READY_WITHIN_MS);
  print();
  print(
    table([
      ['killed', 'times', 'ready again after s: median', 'longest'],
      ...(['postgres', 'temporal'] as const).map((engine) => {
        const times = kills.filter((kill) => kill.engine === engine).map(({ readyAfterMs }) => readyAfterMs);
        return [engine, times.length, seconds(median(times), 1), seconds(Math.max(...times), 1)];
      }),
    ]),
  );
  print();
  print(
    figures({
      events: evidence.events,
      translations: load.accepted.size,
      deliveries: evidence.deliveries,
      sends: evidence.sends,
      'answered 503': evidence.refused,
      duplicates: evidence.duplicates,
      'refused while down': load.refused.stored + load.refused.accepted,
    }),
  );
  print();
  for (const line of output.split('\n').filter((text) => /has died|is back/.test(text))) print(`  ${line}`);
  if (late.length > 0) problems.push(`${late.length} times not ready within ${READY_WITHIN_MS / 1_000} s`);
  conclude(problems, 'Nothing was lost or doubled.');
} finally {
  folder.remove();
}

/**
 * Kills Postgres and Temporal of `npm start` in turn with -9 under load, KILL_ROUNDS times (10). Each time the service
 * must be ready again by itself within 15 s; in the end every event has reached its receivers under one delivery id,
 * every accepted translation is there and charged once, and SIGTERM ends everything with status 0. Ends with status 1
 * when anything is off. About five minutes.
 */
import { killEngines } from './support/engine-kills.ts';
import { temporaryFolder } from './support/engines.ts';
import { median, print, seconds, table } from './support/report.ts';

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 10);
const READY_WITHIN_MS = 15_000;

const startedAt = Date.now();
const folder = temporaryFolder();
try {
  const { kills, load, evidence, problems, output } = await killEngines(folder.path, ROUNDS, (line) =>
    print(`${seconds(Date.now() - startedAt, 1).padStart(7)} s  ${line}`),
  );
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
    table([
      ['events', 'translations', 'deliveries', 'sends', 'answered 503', 'duplicates', 'refused while down'],
      [
        evidence.events,
        load.accepted.size,
        evidence.deliveries,
        evidence.sends,
        evidence.refused,
        evidence.duplicates,
        load.refused.stored + load.refused.accepted,
      ],
    ]),
  );
  print();
  for (const line of output.split('\n').filter((text) => /has died|is back/.test(text))) print(`  ${line}`);
  for (const problem of problems.slice(0, 20)) print(`OFF: ${problem}`);
  if (late.length > 0) print(`OFF: ${late.length} times not ready within ${READY_WITHIN_MS / 1_000} s`);
  const isWell = problems.length === 0 && late.length === 0;
  print(isWell ? 'Nothing was lost or doubled.' : `${problems.length + late.length} problems.`);
  process.exitCode = isWell ? 0 : 1;
} finally {
  folder.remove();
}

import { expect, inject, test } from 'vitest';
import { killEngines } from '../../soak/support/engine-kills.ts';
import { startClock } from '../../soak/support/report.ts';
import type { Database } from '../../src/db/database.ts';
import { hastenRetries } from '../support/hasten.ts';
import { connectOperator } from '../support/temporal.ts';
import { migratedFolder } from './migrated-folder.ts';

/** `npm run soak:engines` asks for ten, alone on the machine, and waits for the retries as they come. */
const { KILL_ROUNDS } = process.env;
const ROUNDS = Number(KILL_ROUNDS ?? 2);
const READY_WITHIN_MS = KILL_ROUNDS === undefined ? 60_000 : 15_000;

/** Retries are half a minute away, and there are some in the end. */
async function hasten(db: Database, temporalAddress: string): Promise<void> {
  const operator = await connectOperator(temporalAddress);
  await hastenRetries(db, operator);
  await operator.close();
}

test('under load, either engine is killed: the service is ready again by itself, with nothing lost, doubled or forgotten', {
  timeout: 600_000 + ROUNDS * 60_000,
}, async () => {
  // `npm start` need not build the workflows once more.
  const env = { DATA_DIR: await migratedFolder(), WORKFLOW_BUNDLE: inject('workflowBundlePath') };
  const note = KILL_ROUNDS === undefined ? () => undefined : startClock();
  const sooner = KILL_ROUNDS === undefined ? hasten : undefined;
  const { kills, evidence, load, problems, output } = await killEngines(env, ROUNDS, note, sooner);
  expect(problems).toEqual([]);
  const inTurns = Array.from({ length: ROUNDS }, (_, round) => (round % 2 === 0 ? 'postgres' : 'temporal'));
  expect(kills.map(({ engine }) => engine)).toEqual(inTurns);
  expect(Math.max(...kills.map(({ readyAfterMs }) => readyAfterMs))).toBeLessThan(READY_WITHIN_MS);
  expect(evidence.events).toBeGreaterThan(50);
  expect(load.accepted.size).toBeGreaterThan(3);
  for (const name of ['Postgres', 'Temporal']) {
    const times = inTurns.filter((engine) => engine === name.toLowerCase()).length;
    expect(output.match(new RegExp(`${name} has died`, 'g'))).toHaveLength(times);
    expect(output.match(new RegExp(`${name} is back`, 'g'))).toHaveLength(times);
  }
});

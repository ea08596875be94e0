import { join } from 'node:path';
import { expect, test } from 'vitest';
import { killEngines } from '../../soak/support/engine-kills.ts';
import type { Database } from '../../src/db/database.ts';
import { hastenRetries } from '../support/hasten.ts';
import { connectOperator } from '../support/temporal.ts';
import { endEnginesAfterTest, temporaryFolder } from './helpers.ts';

/** Retries are half a minute away, and there are some in the end. */
async function hasten(db: Database, temporalAddress: string): Promise<void> {
  const operator = await connectOperator(temporalAddress);
  await hastenRetries(db, operator);
  await operator.close();
}

test('under load, either engine is killed: the service is ready again by itself, with nothing lost, doubled or forgotten', {
  timeout: 600_000,
}, async () => {
  const dataDir = join(temporaryFolder(), 'data');
  endEnginesAfterTest(dataDir);
  const silently = () => undefined;
  const { kills, evidence, load, problems, output } = await killEngines(dataDir, 2, silently, hasten);
  expect(problems).toEqual([]);
  expect(kills.map(({ engine }) => engine)).toEqual(['postgres', 'temporal']);
  expect(evidence.events).toBeGreaterThan(50);
  expect(load.accepted.size).toBeGreaterThan(10);
  for (const name of ['Postgres', 'Temporal']) {
    expect(output.match(new RegExp(`${name} has died`, 'g'))).toHaveLength(1);
    expect(output.match(new RegExp(`${name} is back`, 'g'))).toHaveLength(1);
  }
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../../src/db/database.ts';
import { register } from '../../support/events.ts';
import { useTestService } from '../../support/service.ts';
import { bucket, fixedWindow, type Pace, paceAt, simulate } from './support.ts';

const service = useTestService();
/** Its one connection plans a statement once. */
let db: Database;
let pace: Pace;
beforeAll(() => {
  db = createDatabase({
    connectionString: service.config.DATABASE_URL,
    poolSize: 1,
    prepareStatements: true,
  });
});
afterAll(() => db.destroy());
beforeEach(async () => {
  const workspace = await service.workspace();
  const { id } = await register(service, workspace, 'http://127.0.0.1:9/');
  pace = paceAt(db, id);
});

// contract.md W73
describe.each([
  { rate: 10, count: 2_000 },
  { rate: 100, count: 20_000 },
])('a receiver that takes $rate a second gets $count', ({ rate, count }) => {
  it.each([
    { limiter: 'bucket', says: false, workers: 1 },
    { limiter: 'bucket', says: true, workers: 2 },
    { limiter: 'window', says: false, workers: 2 },
    { limiter: 'window', says: true, workers: 1 },
  ])(
    'from a $limiter, Retry-After $says, $workers workers',
    async ({ limiter, says, workers }) => {
      const make = limiter === 'bucket' ? () => bucket(rate, rate, says) : () => fixedWindow(rate, says);
      const { seconds, requests, refused, givenUp } = await simulate(pace, {
        count,
        limiter: make(),
        workers,
      });
      expect(givenUp).toBe(0);
      expect((seconds * rate) / count).toBeLessThan(1.2);
      expect(refused / requests).toBeLessThan(0.05);
    },
    60_000,
  );
});

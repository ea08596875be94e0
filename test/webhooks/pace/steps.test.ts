import { beforeEach, expect, it } from 'vitest';
import { secondsOf } from '../../../src/webhooks/sending/retry-after.ts';
import { register } from '../../support/events.ts';
import { useTestService } from '../../support/service.ts';
import { type Pace, paceAt } from './support.ts';

const service = useTestService();
let pace: Pace;
beforeEach(async () => {
  const workspace = await service.workspace();
  const { id } = await register(service, workspace, 'http://127.0.0.1:9/');
  pace = paceAt(service.db, id);
});

const refusal = { epoch: 0, refused: 1, retryAfter: null, accepted: 100, active: 5 };

// contract.md W74
it('is silent for a second, doubled up to a minute while nothing is taken, and for a second again after that', async () => {
  await pace.refuse(0, refusal);
  const silences: number[] = [];
  let at = 0;
  for (let epoch = 1; epoch <= 8; epoch += 1) {
    const { wait } = (await pace.look(at)) ?? { wait: 0 };
    silences.push(Math.round(wait));
    at += wait + 0.001;
    await pace.spend(at, 1);
    await pace.refuse(at, { ...refusal, epoch });
  }
  expect(silences).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  at += 60.001;
  for (let second = 0; second < 10; second += 1) await pace.spend(at + second, 2);
  await pace.refuse(at + 10, { ...refusal, epoch: 9 });
  expect((await pace.look(at + 10))?.wait).toBeCloseTo(1);
});

// contract.md W73
it('begins below what was taken, and the refusals of requests claimed before lower it once', async () => {
  await pace.refuse(0, refusal);
  const first = await pace.look(0);
  expect(first).toMatchObject({ epoch: 1, available: 0 });
  expect(first?.rate).toBeCloseTo(18);
  await pace.refuse(0.1, { ...refusal, refused: 12 });
  expect(await pace.look(0)).toEqual(first);
});

// contract.md W73
it('begins as fast as the worker that knows of most taken says, although another is refused at once', async () => {
  const rate = async () => (await pace.look(1))?.rate;
  const [ignorant, knowing] = [{ ...refusal, accepted: 0 }, refusal];
  await pace.refuse(0, ignorant);
  expect(await rate()).toBeCloseTo(5);
  await pace.refuse(0, knowing);
  expect(await rate()).toBeCloseTo(18);
  await pace.refuse(0, ignorant);
  expect(await rate()).toBeCloseTo(18);
  // Of a later pace all is counted in one place, and nothing that one worker knows raises it.
  await pace.refuse(1, { ...ignorant, epoch: 1 });
  const later = await rate();
  await pace.refuse(1, { ...knowing, epoch: 1 });
  await pace.refuse(1, knowing);
  expect(await rate()).toBe(later);
  for (let round = 0; round < 20; round += 1) {
    await service.db.deleteFrom('webhook_paces').execute();
    await Promise.all([ignorant, knowing].map((refused) => pace.refuse(0, refused)));
    expect(await rate()).toBeCloseTo(18);
  }
});

// contract.md W74
it('follows the latest Retry-After, at most 15 minutes of it, and is forgotten after ten', async () => {
  await pace.refuse(0, { ...refusal, retryAfter: 30 });
  expect((await pace.look(0))?.wait).toBeCloseTo(30);
  await pace.refuse(1, { ...refusal, retryAfter: 40 });
  expect((await pace.look(1))?.wait).toBeCloseTo(40);
  await pace.refuse(2, { ...refusal, epoch: 1, retryAfter: 86_400 });
  expect((await pace.look(2))?.wait).toBeCloseTo(900);
  expect(await pace.look(2 + 900 + 599)).toBeDefined();
  expect(await pace.look(2 + 900 + 601)).toBeUndefined();
});

it('lets nothing accumulate beyond a tenth of a second, and does not grow while it is not used', async () => {
  await pace.refuse(0, { ...refusal, accepted: 2_000 });
  expect((await pace.look(300))?.available).toBe(36);
  expect((await pace.look(300))?.rate).toBeCloseTo(360);
  await pace.spend(300, 36);
  expect((await pace.look(300))?.available).toBe(0);
});

it.each([
  ['120', 120],
  ['0', null],
  ['-5', null],
  ['soon', null],
  ['Thu, 01 Jan 2026 00:02:00 GMT', 120],
  ['Thu, 01 Jan 2015 00:02:00 GMT', null],
  ['9'.repeat(60_000), null],
  [null, null],
])('reads Retry-After %s', (value, seconds) => {
  expect(secondsOf(value, Date.parse('2026-01-01T00:00:00Z'))).toBe(seconds);
});

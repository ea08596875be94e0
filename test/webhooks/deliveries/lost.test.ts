import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { DeliveryId } from '../../../src/ids.ts';
import { freeBurst } from '../../../src/webhooks/deliveries/free-burst.ts';
import { releaseOthers, releaseSuspects } from '../../../src/webhooks/deliveries/lost.ts';
import { recordAttempts } from '../../../src/webhooks/deliveries/record.ts';
import { outcome, useDeliveries } from './support.ts';

const { service, store, claim, candidate, openBurst, open, logged } = useDeliveries();

/** Claims what is released, for a burst of its own that is lost then. @returns what was lost */
async function loseBurst(room = 5_000): Promise<DeliveryId[]> {
  const burstId = await openBurst();
  const { deliveries } = await claim({ burstId, candidates: [candidate(room)], limit: 5_000 });
  await freeBurst(service.db, burstId);
  return deliveries.map(({ id }) => id);
}

const makeDue = () => sql`UPDATE webhook_open SET due_at = now() - interval '1 minute'`.execute(service.db);
const count = async (which: 'released' | 'parked') => {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM webhook_open
    WHERE losses > 0 AND parked = ${which === 'parked'}`.execute(service.db);
  return rows[0]?.count;
};

// contract.md W122
describe('what a lost burst had', () => {
  it('comes back spread over 30 seconds, and is not claimed before it is released', async () => {
    await store(400);
    expect(await loseBurst()).toHaveLength(400);
    const { rows } = await sql<{ early: number; late: number; spent: number; later: boolean }>`
      SELECT count(*) FILTER (WHERE due_at < now() + interval '25 seconds')::integer AS early,
        count(*) FILTER (WHERE due_at > now() + interval '35 seconds' AND due_at < now() + interval '46 seconds')::integer AS late,
        sum(attempts + begun)::integer AS spent, min(due_at) > now() + interval '5 seconds' AS later
      FROM webhook_open`.execute(service.db);
    expect(rows[0]?.early).toBeGreaterThan(60);
    expect(rows[0]?.late).toBeGreaterThan(60);
    expect(rows[0]).toMatchObject({ spent: 0, later: true });
    await makeDue();
    expect(await loseBurst()).toEqual([]);
  });

  it('has at most 50 in flight until one is delivered, however many processes release', async () => {
    await store(200);
    await loseBurst();
    await makeDue();
    await Promise.all(Array.from({ length: 5 }, () => releaseSuspects(service.db)));
    expect(await count('released')).toBe(50);
    const burstId = await openBurst();
    const { deliveries } = await claim({ burstId, candidates: [candidate(500)] });
    expect(deliveries).toHaveLength(50);
    expect(await releaseSuspects(service.db)).toEqual([]);
    const [first] = deliveries;
    if (first?.token == null || first.lostAt === null) throw new Error('not lost');
    await recordAttempts(service.db, [outcome(first.id, 'succeeded', { token: first.token })]);
    // An outcome makes place for one more.
    await releaseSuspects(service.db);
    expect(await count('released')).toBe(50);
    await releaseOthers(service.db, first.lostAt);
    expect(await count('parked')).toBe(0);
  });

  it('lets 8 of those lost twice go on at once, then one alone; any outcome clears its delivery', async () => {
    await store(60);
    await loseBurst();
    await makeDue();
    await releaseSuspects(service.db);
    expect(await loseBurst()).toHaveLength(50);
    await makeDue();
    // Those that were lost once go first, and none joins them that needs less company.
    await releaseSuspects(service.db);
    const ten = await loseBurst();
    expect(ten).toHaveLength(10);
    await makeDue();
    await releaseSuspects(service.db);
    const eight = await loseBurst();
    expect(eight).toHaveLength(8);
    await sql`DELETE FROM webhook_open WHERE losses = 2`.execute(service.db);
    await makeDue();
    await releaseSuspects(service.db);
    const burstId = await openBurst();
    const { deliveries } = await claim({ burstId, candidates: [candidate(500)] });
    expect(deliveries).toHaveLength(1);
    const [alone] = deliveries;
    if (alone?.token == null) throw new Error('not claimed');
    await recordAttempts(service.db, [outcome(alone.id, 'retry', { token: alone.token })]);
    expect(await open(alone.id)).toMatchObject({
      attempts: 1,
      losses: 0,
      losses_alone: 0,
      lost_at: null,
      parked: false,
    });
  });

  it('that nothing can be sent of holds up no other: a paused endpoint keeps its own, what is not claimed soon frees its place', async () => {
    await store(60);
    await loseBurst();
    await makeDue();
    await releaseSuspects(service.db);
    await sql`UPDATE webhook_open SET due_at = now() - interval '11 seconds' WHERE NOT parked`.execute(
      service.db,
    );
    await releaseSuspects(service.db);
    expect(await count('released')).toBe(60);
    await sql`UPDATE webhook_open SET parked = true`.execute(service.db);
    await sql`UPDATE webhook_endpoints SET paused_at = now()`.execute(service.db);
    await releaseSuspects(service.db);
    expect(await count('released')).toBe(0);
    await sql`UPDATE webhook_endpoints SET paused_at = NULL`.execute(service.db);
  });
});

// contract.md W123
it('a delivery that is lost three times as the only suspect in flight ends failed, says so, and keeps its attempts', async () => {
  await store(3);
  const [guilty] = await loseBurst();
  if (guilty === undefined) throw new Error('nothing was claimed');
  // In company nothing is proven.
  await makeDue();
  await releaseSuspects(service.db);
  await loseBurst();
  await sql`DELETE FROM webhook_open WHERE id <> ${guilty}`.execute(service.db);
  for (let alone = 1; alone <= 3; alone += 1) {
    expect(await open(guilty)).toMatchObject({ attempts: 0, losses_alone: alone - 1 });
    await makeDue();
    await releaseSuspects(service.db);
    expect(await loseBurst()).toEqual([guilty]);
  }
  expect(await open(guilty)).toBeUndefined();
  expect(await logged(guilty)).toMatchObject({
    status: 'failed',
    attempts: 0,
    error_message: 'The worker was lost three times while it made this attempt.',
  });
});

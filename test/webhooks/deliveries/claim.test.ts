import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createDatabase } from '../../../src/db/database.ts';
import { createDeliveryDatabase } from '../../../src/processes/delivery-database.ts';
import { endDisabled } from '../../../src/webhooks/deliveries/end.ts';
import { freeBurst } from '../../../src/webhooks/deliveries/free-burst.ts';
import { WALK_START } from '../../../src/webhooks/relay/claim.ts';
import { register } from '../../support/events.ts';
import { logger } from '../../support/service.ts';
import { storeDeliveries } from '../api/support/deliveries.ts';
import { useDeliveries } from './support.ts';

const { service, workspace, endpoint, candidate, claim, store, openBurst, claimForBurst, claimForRuns } =
  useDeliveries();

describe('claiming', () => {
  it('gives runs to an endpoint with at most five due, while there are tokens and twenty are not in runs yet', async () => {
    await store(5);
    expect(await claimForRuns(4)).toEqual([]);
    expect(await claimForRuns(5)).toHaveLength(5);
    for (let round = 0; round < 3; round += 1) {
      await store(5);
      expect(await claimForRuns()).toHaveLength(5);
    }
    await store(1);
    expect(await claimForRuns()).toEqual([]);
    const burstId = await openBurst();
    expect(await claimForBurst(burstId)).toHaveLength(1);
  });

  it('gives runs while bursts have no room', async () => {
    await store(2);
    const { deliveries } = await claim({
      burstId: await openBurst(),
      tokens: 20,
      candidates: [candidate(0)],
    });
    expect(deliveries.map(({ inRun }) => inRun)).toEqual([true, true]);
  });

  it('gives more than five due to a burst, the oldest first and no more than it has room for', async () => {
    await store(30);
    expect(await claimForRuns()).toEqual([]);
    const burstId = await openBurst();
    const taken = await claimForBurst(burstId);
    expect(taken).toHaveLength(20);
    expect(taken).toEqual([...taken].sort());
    expect(await claimForBurst(burstId)).toHaveLength(10);
  });

  it('serves endpoints in the order in which they are requested, however few it may take', async () => {
    const ids = await Promise.all(
      Array.from(
        { length: 6 },
        async () => (await register(service, workspace, 'http://127.0.0.1:9/hooks')).id,
      ),
    );
    for (const id of ids) await storeDeliveries(service.db, workspace, id, { count: 10, state: 'pending' });
    const burstId = await openBurst();
    const order = [...ids].sort().reverse();
    for (const id of order) {
      const { deliveries } = await claim({
        burstId,
        limit: 10,
        candidates: order.slice(order.indexOf(id)).map((each) => candidate(20, each)),
      });
      expect(deliveries.map((delivery) => delivery.endpointId)).toEqual(Array(10).fill(id));
    }
  });

  it('only sees what a burst could take of endpoints that it looks for: they have no share yet', async () => {
    await store(30);
    const burstId = await openBurst();
    for (const look of [{ isLook: true }, { walkFrom: WALK_START }]) {
      const seen = await claim({ burstId, candidates: [], ...look });
      expect(seen.deliveries).toEqual([]);
      expect(seen.endpoints).toMatchObject([{ id: endpoint.id, due: 6 }]);
    }
    await sql`UPDATE webhook_open SET due_at = now() + interval '1 minute'`.execute(service.db);
    expect((await claim({ candidates: [], isLook: true, walkFrom: WALK_START })).endpoints).toEqual([]);
  });

  // contract.md W121
  it('asks only for those of its recent endpoints that have something new, and takes it at once', async () => {
    const registering = Array.from({ length: 30 }, () =>
      register(service, workspace, 'http://127.0.0.1:9/hooks'),
    );
    const ids = (await Promise.all(registering)).map(({ id }) => id);
    const burstId = await openBurst();
    const candidates = ids.map((id) => ({ ...candidate(20, id), isOnlyIfNew: true }));
    const [fresh] = ids;
    if (fresh === undefined) throw new Error('no endpoint');
    await storeDeliveries(service.db, workspace, fresh, { count: 7, state: 'pending' });
    expect((await claim({ burstId, candidates })).endpoints).toEqual([]);
    const looked = await claim({ burstId, candidates, isLook: true });
    expect(looked.endpoints.map(({ id }) => id)).toEqual([fresh]);
    expect(looked.deliveries).toHaveLength(7);
    // What is under way is not new.
    expect((await claim({ burstId, candidates, isLook: true })).endpoints).toEqual([]);
  });

  it('finds deliveries by id in the primary key alone: no other index could be skipped through for them', async () => {
    const { rows } = await sql<{ name: string }>`
      SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attname = 'id'
      WHERE indrelid = 'webhook_open'::regclass AND attnum = ANY (indkey)`.execute(service.db);
    expect(rows).toEqual([{ name: 'webhook_open_pkey' }]);
  });

  it('says of a look at the latest deliveries whether there may be more than it reads', async () => {
    await store(199);
    expect((await claim({ candidates: [], isLook: true })).isLookFull).toBe(false);
    await store(1);
    expect((await claim({ candidates: [], isLook: true })).isLookFull).toBe(true);
    expect((await claim({ candidates: [] })).isLookFull).toBe(false);
  });

  it('leaves alone what is not due yet, and says when it will be', async () => {
    await store(1);
    await sql`UPDATE webhook_open SET due_at = now() + interval '30 seconds'`.execute(service.db);
    const { deliveries, endpoints } = await claim({ tokens: 20 });
    expect(deliveries).toEqual([]);
    expect(endpoints[0]?.nextDueIn).toBeGreaterThan(29);
    expect(endpoints[0]?.nextDueIn).toBeLessThanOrEqual(30);
  });

  it('two processes claim at once, without waiting for each other and without one delivery twice', async () => {
    const others = createDatabase({ connectionString: service.config.DATABASE_URL, poolSize: 1 });
    try {
      await store(200);
      const burstId = await openBurst();
      const claims = await Promise.all(
        Array.from({ length: 4 }, (_, index) => claim({ burstId }, index % 2 === 0 ? service.db : others)),
      );
      const ids = claims.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBeGreaterThanOrEqual(20);
      // One that is frozen in the middle of a claim keeps nobody from the rest.
      await service.db.transaction().execute(async (tx) => {
        await sql`SELECT FROM webhook_open WHERE burst_id IS NULL ORDER BY due_at LIMIT 10 FOR UPDATE`.execute(
          tx,
        );
        const rest = await claim({ burstId, candidates: [candidate(500)] }, others);
        expect(rest.deliveries).toHaveLength(200 - ids.length - 10);
      });
    } finally {
      await others.destroy();
    }
  });

  it('reads what it takes and no more, though Postgres takes the table for empty', async () => {
    await sql`VACUUM ANALYZE webhook_open`.execute(service.db);
    await store(2_000);
    const burstId = await openBurst();
    const db = createDeliveryDatabase(service.config, logger);
    try {
      const read = await db.transaction().execute(async (tx) => {
        const { deliveries } = await claim({ burstId, candidates: [candidate(50)] }, tx as typeof db);
        expect(deliveries).toHaveLength(50);
        const { rows } = await sql<{ read: number }>`
          SELECT idx_tup_fetch::integer AS read FROM pg_stat_xact_all_tables WHERE relname = 'webhook_open'`.execute(
          tx,
        );
        return rows[0]?.read ?? Number.NaN;
      });
      expect(read).toBeLessThan(400);
    } finally {
      await db.destroy();
    }
  });

  it('takes nothing for a burst that was freed, even when the claim had begun before', async () => {
    await store(30);
    const burstId = await openBurst();
    expect(await claimForBurst(burstId)).toHaveLength(20);
    expect(await freeBurst(service.db, burstId)).toBe(20);
    expect(await claimForBurst(burstId)).toEqual([]);
    const free = await service.db
      .selectFrom('webhook_open')
      .select('id')
      .where('burst_id', 'is', null)
      .execute();
    expect(free).toHaveLength(30);
  });

  it('leaves out what belongs to a deleted endpoint, and ends what is due of a disabled one', async () => {
    await store(7);
    await service.db
      .updateTable('webhook_endpoints')
      .set({ deleted_at: new Date() })
      .where('id', '=', endpoint.id)
      .execute();
    expect((await claim({ tokens: 20, burstId: await openBurst() })).endpoints).toEqual([]);
    await service.db
      .updateTable('webhook_endpoints')
      .set({ deleted_at: null, active: false })
      .where('id', '=', endpoint.id)
      .execute();
    const seen = await claim({ tokens: 20, burstId: await openBurst() });
    expect(seen.deliveries).toEqual([]);
    expect(seen.endpoints).toMatchObject([{ active: false, due: 6 }]);
    expect(await endDisabled(service.db, endpoint.id)).toBe(7);
    await store(1);
    const enabled = service.db.updateTable('webhook_endpoints').set({ active: true });
    await enabled.where('id', '=', endpoint.id).execute();
    expect(await endDisabled(service.db, endpoint.id)).toBe(0);
    const rows = await service.db
      .selectFrom('webhook_log')
      .selectAll()
      .where('endpoint_id', '=', endpoint.id)
      .execute();
    expect(rows).toHaveLength(7);
    for (const row of rows)
      expect(row).toMatchObject({ status: 'failed', attempts: 0, error_message: 'endpoint disabled' });
  });
});

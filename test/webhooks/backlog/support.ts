import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { inTransaction } from '../../../src/db/transaction.ts';
import type { NewEvent } from '../../../src/events/catalog.ts';
import { FIRST, numberEvents } from '../../../src/events/log/number-events.ts';
import { recordEvents } from '../../../src/events/record.ts';
import type { EndpointId, EventId } from '../../../src/ids.ts';
import { closeBacklog } from '../../../src/webhooks/backlog/close.ts';
import { markBehind } from '../../../src/webhooks/backlog/mark.ts';
import { refill } from '../../../src/webhooks/backlog/refill.ts';
import type { BacklogBounds } from '../../../src/webhooks/backlog/states.ts';
import { listeningWorkspace } from '../../events/support.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { articleEvents } from '../../support/events.ts';
import { madeLater } from '../../support/service.ts';
import { createLoop } from './loop.ts';

/** Small enough to be reached by a few events. */
export const SMALL: BacklogBounds = { mark: 6, refill: 3, queued: 3, looked: 4 };
export const HOUR = 3_600;

type Listening = Awaited<ReturnType<typeof listeningWorkspace>>;

/** A database without any process, a workspace with one endpoint for each test, and the steps that workers take. */
export function useBacklogs() {
  const database = madeLater<TestDatabase>('database');
  const loops: Database[] = [];
  const loop = () => {
    const [first] = loops;
    if (first === undefined) throw new Error('no database yet');
    return first;
  };
  const workspace = madeLater<Listening>('workspace');
  const endpoint = madeLater<{ id: EndpointId }>('endpoint');
  beforeAll(async () => {
    const made = await createTestDatabase();
    database.set(made);
    loops.push(createLoop(made.url));
  });
  afterAll(async () => {
    await loop().destroy();
    await database.it.drop();
  });
  const renew = async () => {
    await sql`DELETE FROM webhook_backlogs`.execute(database.it.db);
    await sql`DELETE FROM webhook_open`.execute(database.it.db);
    workspace.set(await listeningWorkspace(database.it));
    endpoint.set({ id: await workspace.it.endpoint(['article.created']) });
  };
  beforeEach(renew);

  const id = () => endpoint.it.id;
  const steps = {
    database,
    loop,
    workspace,
    endpoint,
    /** Another workspace and endpoint, and nothing open. */
    renew,
    store: (count: number) => workspace.it.record(...articleEvents(count)),
    /** Stores events and commits when it is told to. */
    async storeLate(events: readonly NewEvent[] = articleEvents(1)) {
      const stored = Promise.withResolvers<void>();
      const end = Promise.withResolvers<'commit' | 'rollback'>();
      const ended = inTransaction(database.it.db, async (tx) => {
        await recordEvents(tx, workspace.it.context, events);
        stored.resolve();
        if ((await end.promise) === 'rollback') throw new Error('rolled back');
      }).catch((error: unknown) => {
        if (!(error instanceof Error) || error.message !== 'rolled back') throw error;
      });
      await stored.promise;
      return async (how: 'commit' | 'rollback' = 'commit') => {
        end.resolve(how);
        await ended;
      };
    },
    /** Numbers all that was committed until now. */
    async number() {
      for (let idle = 0; idle < 2; ) {
        const { events } = await numberEvents(database.it.db, FIRST);
        idle = events === 0 ? idle + 1 : 0;
      }
    },
    mark: (bounds = SMALL) => markBehind(loop(), bounds, new AbortController().signal),
    refill: (maxAgeSeconds = HOUR, bounds = SMALL) => refill(loop(), id(), maxAgeSeconds, bounds),
    close: () => closeBacklog(loop(), id()),
    /** Ends open deliveries as delivered, the one due first before the others. */
    async deliver(count = 1_000_000) {
      await sql`
        WITH ended AS (
          DELETE FROM webhook_open WHERE id IN (
            SELECT id FROM webhook_open WHERE endpoint_id = ${id()} ORDER BY due_at, id LIMIT ${count})
          RETURNING *
        )
        INSERT INTO webhook_log (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, status, attempts,
          attempt_log, in_run, delivered_at, created_at)
        SELECT id, workspace_id, endpoint_id, event_id, event_created_at, event_type, 'succeeded', 1, '[]', false, now(), created_at
        FROM ended`.execute(database.it.db);
    },
    /** Refills, delivers and closes until the endpoint is no longer behind. @returns how many steps it took */
    async catchUp(maxAgeSeconds = HOUR) {
      for (let taken = 1; taken < 1_000; taken += 1) {
        await steps.number();
        await steps.deliver();
        const { isClosing } = await steps.refill(maxAgeSeconds);
        if (isClosing && (await steps.close())) return taken;
      }
      throw new Error('it does not catch up');
    },
    async isBehind() {
      const row = await database.it.db
        .selectFrom('webhook_backlogs')
        .select('closing')
        .where('endpoint_id', '=', id())
        .executeTakeFirst();
      return row === undefined ? 'no' : row.closing ? 'closing' : 'behind';
    },
    /** The events of open deliveries, in the order they are due in. */
    async open(of = id()) {
      const { rows } = await sql<{ event_id: EventId }>`
        SELECT event_id FROM webhook_open WHERE endpoint_id = ${of} ORDER BY due_at, id`.execute(
        database.it.db,
      );
      return rows.map(({ event_id }) => event_id);
    },
    /** The workspace's events, as they were stored. */
    async events() {
      const { rows } = await sql<{ id: EventId }>`
        SELECT id FROM events WHERE workspace_id = ${workspace.it.id} ORDER BY id`.execute(database.it.db);
      return rows.map((row) => row.id);
    },
    /** How many deliveries each event has, in the order of the events. */
    async deliveries(of = id()) {
      const { rows } = await sql<{ count: number }>`
        SELECT count(delivery.event_id)::integer AS count FROM events AS event LEFT JOIN (
          SELECT event_id FROM webhook_open WHERE endpoint_id = ${of}
          UNION ALL SELECT event_id FROM webhook_log WHERE endpoint_id = ${of}
        ) AS delivery ON delivery.event_id = event.id
        WHERE workspace_id = ${workspace.it.id} AND type = 'article.created'
        GROUP BY event.id ORDER BY event.id`.execute(database.it.db);
      return rows.map(({ count }) => count);
    },
    /** Makes the events numbered so far this much older, in the log. */
    async age(seconds: number) {
      const older = sql`- make_interval(secs => ${seconds})`;
      for (const table of ['event_log', 'event_counters', 'webhook_backlogs']) {
        await sql`UPDATE ${sql.table(table)} SET instant = instant ${older}`.execute(database.it.db);
      }
    },
  };
  return steps;
}

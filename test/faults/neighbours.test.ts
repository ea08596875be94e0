import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { CategoryId } from '../../src/ids.ts';
import { type RunningService, startServer } from '../../src/processes/server.ts';
import { categoryCalls } from '../categories/support.ts';
import { logger, startTestService, type TestService, type TestWorkspace } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const REQUESTS = 100;

let service: TestService;
let waiting: TestWorkspace;
let neighbour: TestWorkspace;
let calls: ReturnType<typeof categoryCalls>;
beforeAll(async () => {
  service = await startTestService();
  calls = categoryCalls(service);
  waiting = await service.workspace();
  neighbour = await service.workspace();
});
const unlocks: (() => void)[] = [];
afterAll(() => {
  for (const unlock of unlocks) unlock();
  return service.stop();
});

/** A category of the tenant that waits, locked by somebody until `unlock`. */
async function lockedCategory() {
  const { id } = await calls.category(waiting, { en: 'Before' });
  const unlocked = Promise.withResolvers<void>();
  unlocks.push(unlocked.resolve);
  const locked = Promise.withResolvers<void>();
  const over = service.db.transaction().execute(async (tx) => {
    await tx
      .selectFrom('categories')
      .select('id')
      .where('id', '=', id as CategoryId)
      .forUpdate()
      .execute();
    locked.resolve();
    await unlocked.promise;
  });
  await locked.promise;
  return {
    id,
    async unlock() {
      unlocked.resolve();
      await over;
    },
  };
}

/** Sessions that wait for a lock or stand in a transaction, that of the lock's holder among them. */
const waitersInPostgres = async (): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND (wait_event_type = 'Lock' OR state LIKE 'idle in transaction%')`.execute(service.db);
  return rows[0]?.count ?? 0;
};

test('a tenant whose requests wait for a lock delays no other, and gets a Retry-After', async () => {
  const { id, unlock } = await lockedCategory();
  let answered = 0;
  const renames = Promise.all(
    Array.from({ length: REQUESTS }, async (_, index) => {
      const answer = await calls.rename(waiting, id, { en: `After ${index}` });
      answered += 1;
      return answer;
    }),
  );
  await eventually(waitersInPostgres, (count) => count > 1);

  for (let index = 0; index < 20; index += 1) {
    await calls.category(neighbour, { en: `Topic ${index}` });
    expect(await calls.list(neighbour)).toHaveLength(index + 1);
  }
  // All of the neighbour's were answered while those of the other tenant still waited.
  expect(answered).toBe(0);

  const refused = await renames;
  expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: REQUESTS }, () => 503));
  expect(refused.filter(({ headers }) => headers.get('retry-after') === null)).toEqual([]);

  expect(await waitersInPostgres()).toBe(1);
  await unlock();
  expect(await waitersInPostgres()).toBe(0);
  const [category] = await calls.list(waiting);
  expect(category.translations).toMatchObject([{ name: 'Before' }]);
  expect((await calls.rename(waiting, id, { en: 'After' })).status).toBe(200);
  const renamed = await service.db
    .selectFrom('audit_entries')
    .select('action')
    .where('workspace_id', '=', waiting.id)
    .where('target_id', '=', id)
    .execute();
  expect(renamed).toHaveLength(2);
}, 60_000);

test('a server that stops first responds to waiting requests', async () => {
  const server: RunningService = await startServer(service.config, logger);
  const { id, unlock } = await lockedCategory();
  let begun = 0;
  const count = () => {
    begun += 1;
  };
  subscribe('http.server.request.start', count);
  onTestFinished(() => void unsubscribe('http.server.request.start', count));
  const answers = Array.from({ length: 20 }, async () => {
    const { status } = await fetch(new URL(calls.pathOf(waiting, id), server.url), {
      method: 'PATCH',
      headers: { authorization: `Bearer ${waiting.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ translations: [{ language: 'en', name: 'Late' }] }),
    });
    return status;
  });
  await eventually(waitersInPostgres, (count) => count > 1);
  // One that has not come in yet finds the door closed.
  await eventually(
    async () => begun,
    (requests) => requests === 20,
  );
  const stopped = server.stop();
  await unlock();
  expect((await Promise.all(answers)).filter((status) => status !== 200)).toEqual([]);
  await stopped;
}, 60_000);

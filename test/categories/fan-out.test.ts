import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { Category } from '../../src/categories/schemas.ts';
import { IS_ALONE, workInTurns } from '../../src/db/batches.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { announceToCarriers, expandFanOuts } from '../../src/events/fan-out.ts';
import { FIRST, numberEvents } from '../../src/events/log/number-events.ts';
import type { ArticleId, CategoryId, ProjectId } from '../../src/ids.ts';
import { refill } from '../../src/webhooks/backlog/refill.ts';
import { BACKLOG_BOUNDS } from '../../src/webhooks/backlog/states.ts';
import { createArticle } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { categoryCalls, publishMany } from './support.ts';

const service = useTestService();

let calls: ReturnType<typeof categoryCalls>;
let workspace: TestWorkspace;
let projectId: ProjectId;
let category: Category;
beforeAll(() => {
  calls = categoryCalls(service);
});
beforeEach(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  category = await calls.category(workspace, { en: 'Plants' });
});

const expand = () => expandFanOuts(service.db, { signal: new AbortController().signal });
const endpoints = (count: number) =>
  Promise.all(Array.from({ length: count }, () => calls.endpoint(workspace, ['article.updated'])));
const carriers = (count: number): Promise<ArticleId[]> =>
  publishMany(service.db, workspace, projectId, category.id, count);
const lists = async (): Promise<ArticleId[][]> =>
  (
    await service.db
      .selectFrom('event_fanouts')
      .select('article_ids')
      .where('workspace_id', '=', workspace.id)
      .orderBy('id')
      .execute()
  ).map((row) => row.article_ids);
const storedEvents = () =>
  service.db
    .selectFrom('events')
    .select(['article_id', 'request_id', 'body'])
    .where('workspace_id', '=', workspace.id)
    .where('type', '=', 'article.updated')
    .orderBy('id')
    .execute();

// contract.md C17
it('a rename of a category that 3,000 articles show stores no event in the request, and each one once afterwards', async () => {
  const ids = await carriers(3_000);
  const draft = await createArticle(service.db, workspace, projectId, { status: 'DRAFT' });
  await calls.assign(workspace, draft.id, [category.id]);
  const listening = await endpoints(10);
  await calls.endpoint(workspace, ['article.updated'], false);

  expect((await calls.rename(workspace, category.id, { en: 'Trees' })).status).toBe(200);
  expect([await storedEvents(), await calls.deliveries(workspace)]).toEqual([[], []]);
  const frozen = await lists();
  expect(frozen.flat().sort()).toEqual([...ids].sort());
  // With eleven endpoints that could listen by then, no list makes more than 5,000 deliveries.
  expect(Math.max(...frozen.map((list) => list.length))).toBe(Math.floor(5_000 / 11));
  expect(await calls.audit(workspace, 'categories.updated')).toMatchObject([
    { details: { articles: 3_001, announced: 3_000 } },
  ]);

  const [unpublished = '', deleted = ''] = ids;
  const { status } = await service.call(workspace.key, 'POST', `/api/articles/${unpublished}/unpublish`);
  expect(status).toBe(200);
  expect((await service.call(workspace.key, 'DELETE', `/api/articles/${deleted}`)).status).toBe(200);
  const late = await calls.endpoint(workspace, ['article.updated']);

  const killed = spawn(process.execPath, [path.join(import.meta.dirname, 'expander.ts')], {
    env: { ...process.env, DATABASE_URL: service.config.DATABASE_URL },
    stdio: 'ignore',
  });
  const ended = once(killed, 'exit');
  await eventually(
    async () => (await lists()).length,
    (left) => left < frozen.length,
  );
  killed.kill('SIGKILL');
  await ended;
  expect((await lists()).length).toBeGreaterThan(0);
  await Promise.all([expand(), expand()]);
  // A list that the killed one still held when both had looked.
  await eventually(
    async () => {
      await expand();
      return (await lists()).length;
    },
    (left) => left === 0,
  );

  const told = ids.filter((id) => id !== unpublished && id !== deleted).sort();
  expect((await storedEvents()).map((row) => row.article_id).sort()).toEqual(told);
  const deliveries = await calls.deliveries(workspace);
  expect(deliveries.map((row) => `${row.endpoint_id} ${row.article_id}`).sort()).toEqual(
    listening.flatMap((endpoint) => told.map((id) => `${endpoint} ${id}`)).sort(),
  );
  expect(deliveries.map((row) => row.endpoint_id)).not.toContain(late);
});

it('what is stored later has the bytes and the request id of what is stored at once', async () => {
  const ids = await carriers(1_001);
  await endpoints(1);
  const rename = (name: string) =>
    service.call(
      workspace.key,
      'PATCH',
      calls.pathOf(workspace, category.id),
      { translations: [{ language: 'en', name }] },
      { 'x-request-id': name },
    );
  await rename('later');
  await expand();
  await service.db
    .updateTable('articles')
    .set({ status: 'DRAFT' })
    .where('id', '=', ids[0] ?? null)
    .execute();
  await rename('now');
  const told = await storedEvents();
  const bytes = (name: string) =>
    told
      .filter((row) => row.request_id === name && row.article_id !== ids[0])
      .map((row) => row.body.toString())
      .sort();
  expect(bytes('now')).toHaveLength(1_000);
  expect(bytes('later')).toEqual(bytes('now'));
});

// contract.md C18
it('two changes after each other are two events an article, in their order', async () => {
  await carriers(1_500);
  await endpoints(1);
  const requests: string[] = [];
  for (const name of ['First', 'Second']) {
    const response = await calls.rename(workspace, category.id, { en: name });
    requests.push(response.headers.get('x-request-id') ?? '');
  }
  await expand();
  expect((await storedEvents()).map((row) => row.request_id)).toEqual(
    requests.flatMap((request) => Array<string>(1_500).fill(request)),
  );
});

it('a deletion of a category that very many articles carry takes its links, and sends their events afterwards', async () => {
  const ids = await carriers(1_001);
  await endpoints(1);
  const { body } = await calls.remove(workspace, category.id);
  expect(body).toEqual({ ok: true, articleCount: 1_001 });
  const links = await service.db
    .selectFrom('article_categories')
    .select('article_id')
    .where('category_id', '=', category.id as CategoryId)
    .execute();
  expect([links, await storedEvents()]).toEqual([[], []]);
  await expand();
  expect((await storedEvents()).map((row) => row.article_id).sort()).toEqual([...ids].sort());
  expect(await calls.audit(workspace, 'categories.deleted')).toMatchObject([
    { details: { articles: 1_001, announced: 1_001 } },
  ]);
});

// contract.md E1
it('stores the events while no endpoint listens, and no delivery', async () => {
  const ids = await carriers(2_000);
  await calls.endpoint(workspace, ['article.updated'], false);
  await calls.endpoint(workspace, ['article.published']);
  await calls.rename(workspace, category.id, { en: 'Unheard' });
  expect((await lists()).flat().sort()).toEqual([...ids].sort());
  expect(await calls.audit(workspace, 'categories.updated')).toMatchObject([
    { details: { articles: 2_000, announced: 2_000 } },
  ]);
  await expand();
  expect((await storedEvents()).map((row) => row.article_id).sort()).toEqual([...ids].sort());
  expect([await lists(), await calls.deliveries(workspace)]).toEqual([[], []]);
});

// contract.md W82
it.each([
  ['at once', 3],
  ['from a list', 1_001],
])(
  'an article that somebody holds gets its event %s only afterwards, and nobody waits for it',
  async (_, count) => {
    const ids = await carriers(count);
    await endpoints(1);
    const [held = ''] = ids;
    await service.db.transaction().execute(async (tx) => {
      await tx
        .selectFrom('articles')
        .select('id')
        .where('id', '=', held as ArticleId)
        .forUpdate()
        .execute();
      await calls.rename(workspace, category.id, { en: `Held ${count}` });
      await expand();
      expect((await storedEvents()).map((row) => row.article_id).sort()).toEqual(ids.slice(1).sort());
      expect(await lists()).toEqual([[held]]);
      await tx
        .updateTable('articles')
        .set({ title: 'Renamed meanwhile' })
        .where('id', '=', held as ArticleId)
        .execute();
    });
    await expand();
    expect(await lists()).toEqual([]);
    const last = (await storedEvents()).at(-1);
    expect([last?.article_id, JSON.parse(last?.body.toString() ?? '').data.title]).toEqual([
      held,
      'Renamed meanwhile',
    ]);
    expect(await calls.deliveries(workspace)).toHaveLength(count);
  },
);

it('an article that is no longer PUBLISHED once it is let go gets none', async () => {
  const [held] = await carriers(1);
  if (held === undefined) throw new Error('unreachable');
  await service.db.transaction().execute(async (tx) => {
    await tx.updateTable('articles').set({ status: 'DRAFT' }).where('id', '=', held).execute();
    await calls.rename(workspace, category.id, { en: 'Let go' });
    expect(await lists()).toEqual([[held]]);
  });
  await expand();
  expect([await lists(), await storedEvents()]).toEqual([[], []]);
});

it('lists of several workspaces go in turn, so that one with many does not stand before one with few', async () => {
  const freeze = async (to: TestWorkspace, lists: number) => {
    const plants = await calls.category(to, { en: 'Turns' });
    const [article] = await publishMany(service.db, to, await service.project(to), plants.id, 1);
    if (article === undefined) throw new Error('unreachable');
    await calls.endpoint(to, ['article.updated']);
    await sql`
      INSERT INTO event_fanouts (workspace_id, changed, article_ids)
      SELECT ${to.id}, '{categories}', ${[article]}::uuid[] FROM generate_series(1, ${lists}::integer)`.execute(
      service.db,
    );
    return article;
  };
  const many = await freeze(workspace, 8);
  const few = await freeze(await service.workspace(), 2);
  await expand();
  const told = await service.db
    .selectFrom('events')
    .select('article_id')
    .where('article_id', 'in', [many, few])
    .orderBy('id')
    .execute();
  const order = told.map((row) => (row.article_id === few ? 'few' : 'many'));
  expect(order.slice(0, 4).sort()).toEqual(['few', 'few', 'many', 'many']);
  expect(order.slice(4)).toEqual(Array(6).fill('many'));
});

it('rests for a third of the time that a piece took, whenever other sessions are active', async () => {
  const isAlone = async () =>
    (await sql<{ alone: boolean }>`SELECT ${sql.raw(IS_ALONE)} AS alone`.execute(service.db)).rows[0]?.alone;
  const pieces = [60, 60, 60];
  const began = performance.now();
  await service.db.transaction().execute(async (tx) => {
    await sql`SELECT 1`.execute(tx);
    await workInTurns(new AbortController().signal, async () => {
      const took = pieces.pop();
      await sleep(took ?? 0);
      return took === undefined ? null : { workspaceId: workspace.id, isAlone: (await isAlone()) ?? true };
    });
  });
  expect(performance.now() - began).toBeGreaterThan(3 * 80 - 3);
});

// contract.md W100 and W101
it('queues nothing for an endpoint that is behind, whose events follow from the log', async () => {
  const ids = await carriers(1_001);
  const [behind, other] = await endpoints(2);
  if (behind === undefined || other === undefined) throw new Error('unreachable');
  await sql`INSERT INTO webhook_backlogs (endpoint_id, behind_from, instant) VALUES (${behind}, 0, '-infinity')`.execute(
    service.db,
  );
  await calls.rename(workspace, category.id, { en: 'Later' });
  await expand();
  await calls.assign(workspace, ids[0] ?? '', []);
  const queued = await calls.deliveries(workspace);
  expect(new Set(queued.map(({ endpoint_id }) => endpoint_id))).toEqual(new Set([other]));
  expect(queued).toHaveLength(1_002);
  for (let idle = 0; idle < 2; ) idle = (await numberEvents(service.db, FIRST)).events === 0 ? idle + 1 : 0;
  expect(await refill(service.db, behind, 3_600, BACKLOG_BOUNDS)).toMatchObject({ queued: 1_002, missed: 0 });
});

const bounded = (waiting: number, count: number) =>
  inTransaction(service.db, (tx) =>
    announceToCarriers(
      tx,
      workspace.context,
      sql`SELECT article_id FROM article_categories WHERE workspace_id = ${workspace.id} LIMIT ${count}`,
      ['categories'],
      { waiting },
    ),
  );

// contract.md W107
it('a change is refused when its articles and those that wait are too many, and leaves nothing; also of two at once', async () => {
  await carriers(1_500);
  // One change has any number.
  expect(await bounded(1_000, 1_400)).toEqual({ articles: 1_400, announced: 1_400 });
  const before = await lists();
  await expect(bounded(2_899, 1_500)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 60 });
  expect(await lists()).toEqual(before);
  const both = await Promise.allSettled([bounded(3_000, 1_200), bounded(3_000, 1_100)]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  // Few articles do not need a list.
  expect(await bounded(10, 3)).toEqual({ articles: 3, announced: 3 });
  await expand();
  expect(await bounded(1_600, 1_500)).toEqual({ articles: 1_500, announced: 1_500 });
});

// contract.md W107
it('a category change beyond the bound is 429 with Retry-After and changes nothing', async () => {
  const [article] = await carriers(1_500);
  await sql`
    INSERT INTO event_fanouts (workspace_id, changed, article_ids)
    SELECT ${workspace.id}, '{categories}', array_fill(${article}::uuid, ARRAY[1000]) FROM generate_series(1, 199)`.execute(
    service.db,
  );
  const refused = await calls.rename(workspace, category.id, { en: 'Too many' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  expect((await calls.remove(workspace, category.id)).status).toBe(429);
  expect((await calls.list(workspace)).map(({ name }: { name: string }) => name)).not.toContain('Too many');
  expect(await lists()).toHaveLength(199);
  expect(await calls.audit(workspace, 'categories.updated')).toEqual([]);
  await calls.forgetEvents(workspace);
  expect((await calls.rename(workspace, category.id, { en: 'Now' })).status).toBe(200);
});

// contract.md W108
it('lists make no more events in 24 hours than the bound, by several relays as well; others go on, and the rest follows', async () => {
  const expandWithin = (daily: number) =>
    expandFanOuts(service.db, { signal: new AbortController().signal }, { daily });
  await carriers(3_500);
  await endpoints(1);
  await calls.rename(workspace, category.id, { en: 'Once' });
  const neighbour = await service.workspace();
  const plants = await calls.category(neighbour, { en: 'Plants' });
  await publishMany(service.db, neighbour, await service.project(neighbour), plants.id, 1_001);
  await calls.rename(neighbour, plants.id, { en: 'Trees' });
  await Promise.all([expandWithin(2_500), expandWithin(2_500)]);
  await expandWithin(2_500);
  // A list is expanded whole: the third one does not fit.
  expect(await storedEvents()).toHaveLength(2_000);
  expect(await calls.events(neighbour)).toHaveLength(1_001);
  // Those of a day ago count no more.
  const later = (hours: number) =>
    sql`UPDATE event_fanout_hours SET hour = hour - make_interval(hours => ${hours})`.execute(service.db);
  await later(23);
  await expandWithin(2_500);
  expect(await storedEvents()).toHaveLength(2_000);
  await later(2);
  await expandWithin(2_500);
  expect(await storedEvents()).toHaveLength(3_500);
  expect(await lists()).toEqual([]);
});

// contract.md W108
it('a list of which somebody holds an article counts once', async () => {
  const [held] = await carriers(1_001);
  if (held === undefined) throw new Error('unreachable');
  await endpoints(1);
  await calls.rename(workspace, category.id, { en: 'Counted' });
  await service.db.transaction().execute(async (tx) => {
    await tx.selectFrom('articles').select('id').where('id', '=', held).forUpdate().execute();
    for (let look = 0; look < 3; look += 1) await expand();
    expect(await lists()).toEqual([[held]]);
  });
  await expand();
  const counted = await service.db
    .selectFrom('event_fanout_hours')
    .select('events')
    .where('workspace_id', '=', workspace.id)
    .execute();
  expect([counted, await lists()]).toEqual([[{ events: 1_001 }], []]);
});

it('lists are left as they are at the signal, which says that there are more', async () => {
  await carriers(1_001);
  await endpoints(1);
  await calls.rename(workspace, category.id, { en: 'Stopped' });
  expect(await expandFanOuts(service.db, { signal: AbortSignal.abort() })).toBe(true);
  expect(await lists()).toHaveLength(2);
  expect(await expand()).toBe(false);
  expect(await lists()).toEqual([]);
});

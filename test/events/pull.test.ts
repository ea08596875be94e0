import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { expandFanOuts } from '../../src/events/fan-out.ts';
import { type Sequencer, startSequencer } from '../../src/events/log/sequencer.ts';
import type { ArticleId, ProjectId } from '../../src/ids.ts';
import { keepDoing } from '../../src/pause.ts';
import { categoryCalls } from '../categories/support.ts';
import { createArticle } from '../support/articles.ts';
import { emit } from '../support/events.ts';
import {
  type Answer,
  logger,
  startTestService,
  type TestService,
  type TestWorkspace,
  useTestService,
} from '../support/service.ts';

const service = useTestService();
let workspace: TestWorkspace;
let projectId: ProjectId;
let sequencer: Sequencer;
beforeEach(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  sequencer = startSequencer({ db: service.db, logger });
});
afterEach(() => sequencer.stop());

interface Pulled {
  readonly id: string;
  readonly type: string;
  readonly articleId: string;
  readonly body: { readonly event: string; readonly data: Record<string, string> };
}

const get = (query: Record<string, string | number> = {}, on: TestService = service): Promise<Answer> =>
  on.call(
    workspace.key,
    'GET',
    `/api/workspaces/${workspace.id}/events?${new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    )}`,
  );
/** The cursor after all that has been committed and numbered until now. */
const latest = async (): Promise<string> => (await get({ after: 'latest' })).body.cursor;
const pullAll = async (after: string): Promise<Pulled[]> => {
  const events: Pulled[] = [];
  for (let cursor = after; ; ) {
    const { body } = await get({ after: cursor, limit: 500 });
    events.push(...body.events);
    if (!body.more) return events;
    cursor = body.cursor;
  }
};

// contract.md W80
it('shows id, name, article, time and the body of webhooks', async () => {
  const cursor = await latest();
  await emit(service, workspace, 'Shown');
  const { status, body } = await get({ after: cursor, wait: 5 });
  const [row] = await service.db
    .selectFrom('events')
    .selectAll()
    .where('workspace_id', '=', workspace.id)
    .orderBy('id', 'desc')
    .limit(1)
    .execute();
  expect([status, body]).toEqual([
    200,
    {
      events: [
        {
          id: row?.id,
          type: 'article.created',
          articleId: row?.article_id,
          createdAt: row?.created_at.toISOString(),
          body: JSON.parse(row?.body.toString() ?? ''),
        },
      ],
      cursor: expect.stringMatching(/^[\w-]+$/),
      more: false,
    },
  ]);
});

// contract.md W84
it.each([
  ['types', 'article.published,article.vanished'],
  ['types', ''],
  ['articleId', 'none'],
  ['limit', '501'],
  ['limit', '0'],
  ['wait', '21'],
  ['after', 'none'],
])('refuses %s=%s', async (name, value) => {
  const { status, body } = await get({ [name]: value });
  expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'INVALID_REQUEST', `query/${name}`]);
});

// contract.md W82
it('the events of an article have the order of its changes: beside renames of its categories, it is published, saved and unpublished', async () => {
  const calls = categoryCalls(service);
  const category = await calls.category(workspace, { en: 'Plants' });
  const articles: ArticleId[] = [];
  for (let index = 0; index < 4; index += 1) {
    const { id } = await createArticle(service.db, workspace, projectId, { status: 'APPROVED' });
    await calls.assign(workspace, id, [category.id]);
    articles.push(id);
  }
  const cursor = await latest();
  const over = new AbortController();
  const second = startSequencer({ db: service.db, logger });
  const expanding = keepDoing(() => expandFanOuts(service.db, over), {
    everyMs: 10,
    signal: over.signal,
    onError: (error) => {
      throw error;
    },
  });
  const ROUNDS = 12;
  const edit = async (id: ArticleId) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await service.db.updateTable('articles').set({ status: 'APPROVED' }).where('id', '=', id).execute();
      const path = `/api/articles/${id}`;
      for (const change of ['publish', 'title', 'unpublish']) {
        const { status } =
          change === 'title'
            ? await service.call(workspace.key, 'PATCH', path, { title: `Title ${round}` })
            : await service.call(workspace.key, 'POST', `${path}/${change}`);
        expect([change, status]).toEqual([change, 200]);
      }
    }
  };
  let isOver = false;
  let renames = 0;
  const rename = async () => {
    while (!isOver) {
      renames += 1;
      expect((await calls.rename(workspace, category.id, { en: `Plants ${renames}` })).status).toBe(200);
    }
  };
  const renaming = rename();
  await Promise.all(articles.map(edit));
  isOver = true;
  await renaming;
  await sleep(200);
  over.abort();
  await expanding;
  await expandFanOuts(service.db, { signal: new AbortController().signal });
  await sleep(300);
  await second.stop();

  const events = await pullAll(cursor);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  const { count } = await service.db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspace.id)
    .where('type', 'in', ['article.published', 'article.updated', 'article.unpublished'])
    .executeTakeFirstOrThrow();
  expect(events).toHaveLength(count);
  expect(
    events.filter(
      ({ type, body }) => type === 'article.updated' && String(body.data.changed) === 'categories',
    ).length,
  ).toBeGreaterThan(0);
  for (const id of articles) {
    const own = events.filter(({ articleId }) => articleId === id);
    let status = 'unpublished';
    let round = -1;
    for (const { type, body } of own) {
      if (type === 'article.published') {
        expect(status).toBe('unpublished');
        status = 'published';
        round += 1;
      } else if (type === 'article.unpublished') {
        expect(status).toBe('published');
        status = 'unpublished';
      } else expect(status).toBe('published');
      const title = Number(/\d+$/.exec(body.data.title ?? '')?.[0] ?? -1);
      expect([round - 1, round]).toContain(title);
    }
    expect(round).toBe(ROUNDS - 1);
  }
});

// contract.md W88
it('a waiting request gets the next event within 350 ms of its commit, and one that does not fit its filter goes on waiting', async () => {
  const cursor = await latest();
  const waits: number[] = [];
  for (let after = cursor, count = 0; count < 10; count += 1) {
    const pending = get({ after, wait: 10 });
    await sleep(100 + 37 * count);
    await emit(service, workspace);
    const committed = performance.now();
    const { body } = await pending;
    waits.push(performance.now() - committed);
    expect(body.events).toHaveLength(1);
    after = body.cursor;
  }
  // What a busy machine adds is not measured here: half of them have to be in time.
  waits.sort((a, b) => a - b);
  expect(waits[4]).toBeLessThan(350);

  const filtered = get({ after: await latest(), types: 'article.published', wait: 1 });
  await sleep(100);
  await emit(service, workspace);
  await sleep(400);
  const { body } = await filtered;
  expect(body.events).toEqual([]);
  expect(body.cursor).toBe(await latest());
});

it('an event that comes before the wait is there at once, and a wait without any ends', async () => {
  const before = await latest();
  const began = performance.now();
  expect((await get({ after: before, wait: 1 })).body).toEqual({ events: [], cursor: before, more: false });
  expect(performance.now() - began).toBeGreaterThan(950);
});

// contract.md W89
it('50 requests of a workspace wait at once; one more is 429, and one that goes away frees its place', async () => {
  const after = await latest();
  const leaving = new AbortController();
  const gone = fetch(new URL(`/api/workspaces/${workspace.id}/events?after=${after}&wait=20`, service.url), {
    headers: { authorization: `Bearer ${workspace.key}` },
    signal: leaving.signal,
  }).catch(() => undefined);
  const waiting = Array.from({ length: 49 }, () => get({ after, wait: 18 }));
  // Until all of them wait, on a busy machine, too.
  await sleep(3_000);
  const refused = await get({ after, wait: 1 });
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
    429,
    'RATE_LIMITED',
    '1',
  ]);
  // Others are not concerned, nor is one that does not wait.
  const neighbour = await service.workspace();
  const theirs = await service.call(neighbour.key, 'GET', `/api/workspaces/${neighbour.id}/events?wait=1`);
  expect([theirs.status, (await get({ after })).status]).toEqual([200, 200]);
  leaving.abort();
  await gone;
  await sleep(500);
  const placed = get({ after, wait: 5 });
  await sleep(200);
  await emit(service, workspace);
  const statuses = (await Promise.all([placed, ...waiting])).map(({ status, body }) => [
    status,
    body.events.length,
  ]);
  expect(statuses).toEqual(Array(50).fill([200, 1]));
});

// contract.md W89
it('a key that is revoked while its request waits gets nothing', async () => {
  const pending = get({ wait: 10 });
  await sleep(200);
  await service.db
    .updateTable('api_keys')
    .set({ revoked_at: new Date() })
    .where('id', '=', workspace.keyId)
    .execute();
  await emit(service, workspace);
  expect((await pending).status).toBe(401);
});

// contract.md W89
it('the end of the process ends all waits', async () => {
  const stopping = await startTestService();
  workspace = await stopping.workspace();
  const pending = get({ wait: 20 }, stopping);
  await sleep(300);
  const began = performance.now();
  await Promise.all([stopping.stop(), pending]);
  expect(performance.now() - began).toBeLessThan(6_000);
  expect((await pending).body.events).toEqual([]);
});

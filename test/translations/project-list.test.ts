import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import type { VerbContext } from '../../src/context.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { decodeCursor } from '../../src/http/paging.ts';
import type { ArticleId, ProjectId, WorkspaceId } from '../../src/ids.ts';
import { readTranslations } from '../../src/translations/list.ts';
import { type CatchUp, createCatchUp } from '../../src/translations/project/catch-up.ts';
import { lookAt } from '../../src/translations/project/count.ts';
import {
  listProjectTranslations,
  type ProjectTranslationFilter,
} from '../../src/translations/project/list.ts';
import type { ProjectTranslationPage } from '../../src/translations/project/schemas.ts';
import { countStates } from '../../src/translations/states.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { seedVersions } from './support/versions.ts';

const service = useTestService();
let workspace: TestWorkspace;
let projectId: ProjectId;
/** Projects that requests had caught up with. */
let added: ProjectId[];
beforeEach(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  added = [];
});

const counted = async (): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM version_states WHERE workspace_id = ${workspace.id}`.execute(
    service.db,
  );
  return rows[0]?.count ?? 0;
};

const context = (): VerbContext & { catchUp: Pick<CatchUp, 'add'> } => ({
  ...workspace.context,
  catchUp: { add: (_, id) => added.push(id) },
});

const list = (filter: Partial<ProjectTranslationFilter> = {}): Promise<ProjectTranslationPage> =>
  listProjectTranslations(context(), { projectId, limit: 100, position: null, ...filter });

async function* pagesOf(filter: Partial<ProjectTranslationFilter> = {}) {
  for (let cursor: string | undefined | null; cursor !== null; ) {
    const page = await list({ ...filter, position: decodeCursor<ArticleId>(cursor) });
    yield page;
    cursor = page.nextCursor;
  }
}

const idsOf = async (filter: Partial<ProjectTranslationFilter> = {}): Promise<string[]> =>
  (await Array.fromAsync(pagesOf(filter))).flatMap(({ translations }) =>
    translations.map(({ article }) => article.id),
  );

/** Runs the background work until the project's states are known. */
async function catchUp(): Promise<void> {
  const errors: unknown[] = [];
  const background = createCatchUp({
    databaseOf: () => service.db,
    onError: (error) => errors.push(error),
  });
  background.add(workspace.id, projectId);
  await eventually(
    () => list({ state: 'unknown', limit: 1 }),
    ({ unknown }) => unknown === 0,
  );
  await background.close();
  expect(errors).toEqual([]);
}

const save = (id: string | undefined, changes: object) =>
  service.call(workspace.key, 'PATCH', `/api/articles/${id}`, changes);

// contract.md T61, T62 and T65
it('lists 1,000 versions of a project by state, counting 50 a request, and knows them all after the background work', async () => {
  const sources = await seedVersions(service.db, workspace, projectId, { sources: 10, languages: 100 });
  const changed: DocumentJson = {
    version: 1,
    blocks: [{ id: 'one', type: 'paragraph', text: 'Other words.' }],
  };
  for (const { id } of sources.slice(0, 5))
    expect((await save(id, { documentJson: changed })).status).toBe(200);
  const stale = sources.slice(0, 5).flatMap(({ versions }) => versions);

  const seen: string[] = [];
  for (let cursor: string | undefined | null; cursor !== null; ) {
    const before = await counted();
    const page = await list({ position: decodeCursor<ArticleId>(cursor) });
    expect((await counted()) - before).toBe(50);
    expect(page.unknown).toBe(50);
    for (const { article, state, states, tracking } of page.translations) {
      seen.push(article.id);
      expect([tracking, states === null]).toEqual(['managed', state === 'unknown']);
    }
    cursor = page.nextCursor;
  }
  expect(new Set(seen)).toEqual(new Set(sources.flatMap(({ versions }) => versions)));
  expect(seen).toHaveLength(1_000);
  expect(new Set(added)).toEqual(new Set([projectId]));

  // By a state: what is passed over is counted in `unknown`, and 50 more of them are known afterwards.
  const page = await list({ state: 'stale' });
  expect(await counted()).toBe(550);
  expect(page.unknown).toBeGreaterThan(0);
  expect(await idsOf({ state: 'unknown' })).toHaveLength(450);
  expect(await counted()).toBe(550);

  await catchUp();
  expect(await idsOf({ state: 'unknown' })).toEqual([]);
  const found = await idsOf({ state: 'stale' });
  expect([found.length, new Set(found)]).toEqual([500, new Set(stale)]);
  const inLanguage = await idsOf({ state: 'stale', language: 'de-x-007' });
  expect(new Set(inLanguage)).toEqual(new Set(sources.slice(0, 5).map(({ versions }) => versions[6])));
  expect(await idsOf({ state: 'stale', limit: 60 })).toEqual(found);
  expect(await idsOf({ state: 'edited' })).toEqual([]);
});

// contract.md T24 and T63
it('counts a version again only once its content, its source or its provenance has changed, whichever list asks', async () => {
  const [source] = await seedVersions(service.db, workspace, projectId, { sources: 1, languages: 4 });
  const { id: sourceId = '' as ArticleId, versions = [] } = source ?? {};
  let read = 0;
  const db = service.db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      read += result.rows.filter((row) => row.document !== undefined).length;
      return result;
    },
  });
  const both = async (): Promise<number> => {
    read = 0;
    const [page, group] = [
      await listProjectTranslations({ ...context(), db }, { projectId, limit: 100, position: null }),
      await readTranslations({ ...context(), db }, sourceId, ''),
    ];
    const states = (found: readonly { article: { id: string }; states: unknown }[]) =>
      new Map(found.filter((each) => each.states !== null).map((each) => [each.article.id, each.states]));
    expect(states(group.items.map((item) => JSON.parse(item)))).toEqual(states(page.translations));
    return read;
  };
  // The source and four versions; then nothing.
  expect([await both(), await both()]).toEqual([5, 0]);
  const moved = await service.call(workspace.key, 'POST', `/api/articles/${versions[0]}/reviews`, {
    decision: 'approved',
  });
  expect(moved.status).toBe(201);
  expect(await both()).toBe(0);

  expect((await save(versions[1], { title: 'Ein Titel' })).status).toBe(200);
  expect([await both(), await both()]).toEqual([2, 0]);
  await sql`UPDATE article_provenance SET units = '[]' WHERE article_id = ${versions[2]}::uuid`.execute(
    service.db,
  );
  expect([await both(), await both()]).toEqual([2, 0]);
  const [asset] = ['11111111-1111-4111-8111-111111111111'];
  await sql`INSERT INTO blobs (hash, size) VALUES (repeat('0', 64), 1)`.execute(service.db);
  await sql`INSERT INTO assets (id, workspace_id, article_id, role, content_hash, media_type, byte_size, file_name)
    VALUES (${asset}::uuid, ${workspace.id}, ${versions[3]}::uuid, 'inline', repeat('0', 64), 'image/png', 1, 'x')`.execute(
    service.db,
  );
  expect([await both(), await both()]).toEqual([2, 0]);
  expect((await save(sourceId, { title: 'Another title' })).status).toBe(200);
  expect([await both(), await both()]).toEqual([5, 0]);

  expect((await service.call(workspace.key, 'DELETE', `/api/articles/${versions[0]}`)).status).toBe(200);
  expect(await counted()).toBe(3);
  expect((await service.call(workspace.key, 'DELETE', `/api/articles/${sourceId}`)).status).toBe(200);
  const { translations } = await list();
  expect(translations).toMatchObject(
    Array(3).fill({ tracking: 'source_gone', state: 'known', states: null, sourceArticleId: sourceId }),
  );
});

// contract.md T64
it('a page costs the same however many articles are no versions, and however late it is', async () => {
  await seedVersions(service.db, workspace, projectId, { sources: 10, languages: 10 });
  await sql`
    INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
      translation_group_id)
    SELECT gen_random_uuid(), ${workspace.id}, ${projectId}, 'One', 'one-' || n, 'DRAFT', '{"version":1,"blocks":[]}', 'en',
      gen_random_uuid() FROM generate_series(1, 5000) AS n`.execute(service.db);
  await sql`ANALYZE articles`.execute(service.db);
  const position = { at: new Date(), id: '00000000-0000-0000-0000-000000000000' as ArticleId };
  const filter = { workspaceId: workspace.id, projectId };
  const planOf = async (most: number, language?: string) =>
    JSON.stringify(await lookAt(service.db, { ...filter, language }, position, most).explain());
  expect(await planOf(50)).toContain('articles_versions_idx');
  expect(await planOf(5, 'de-x-003')).toContain('articles_version_language_idx');
  // Nor does a long page read what other workspaces have.
  for (const plan of [await planOf(1_001), await planOf(1_001, 'de-x-003')]) {
    expect(plan).toMatch(/articles_version\w+_idx/);
    expect(plan).not.toContain('Seq Scan');
  }
});

// contract.md T65
it('serves workspaces in turn in the background, and begins again what a server has left', async () => {
  await seedVersions(service.db, workspace, projectId, { sources: 4, languages: 100 });
  const other = await service.workspace();
  const theirs = await service.project(other);
  await seedVersions(service.db, other, theirs, { sources: 1, languages: 3 });
  const order: WorkspaceId[] = [];
  let closing: Promise<void> | undefined;
  const first = createCatchUp({
    databaseOf: (workspaceId) => {
      if (order.push(workspaceId) === 3) closing = first.close();
      return service.db;
    },
    onError: (error) => expect(error).toBe(undefined),
  });
  first.add(workspace.id, projectId);
  first.add(other.id, theirs);
  await eventually(
    async () => closing !== undefined,
    (isClosing) => isClosing,
  );
  await closing;
  expect(order).toEqual([workspace.id, other.id, workspace.id]);
  expect(await counted()).toBe(100);

  // Nothing is left of the first one but what it has counted.
  await catchUp();
  expect(await counted()).toBe(400);
});

// contract.md T63
it('servers that count the same versions while some of them are deleted do not fail each other', async () => {
  const [source] = await seedVersions(service.db, workspace, projectId, { sources: 1, languages: 40 });
  const { versions = [] } = source ?? {};
  const filter = { workspaceId: workspace.id, projectId };
  const found = await lookAt(service.db, filter, null, 100).execute();
  const countAll = (some: typeof found) => countStates(service.db, workspace.id, some);
  await Promise.all([
    ...Array.from({ length: 4 }, (_, index) => countAll(index % 2 === 0 ? found : found.toReversed())),
    ...versions.slice(0, 20).map((id) => service.db.deleteFrom('articles').where('id', '=', id).execute()),
  ]);
  expect(await counted()).toBe(20);
});

// contract.md T66
it('a version that cannot be compared stays unknown, and holds up neither the list nor the others', async () => {
  const [source] = await seedVersions(service.db, workspace, projectId, { sources: 2, languages: 3 });
  const [, broken] = source?.versions ?? [];
  await sql`UPDATE article_provenance SET units = '7' WHERE article_id = ${broken}::uuid`.execute(service.db);
  const page = await list();
  expect(page.translations.filter(({ state }) => state === 'known')).toHaveLength(5);
  expect(await idsOf({ state: 'unknown' })).toEqual([broken]);
  const failed: string[] = [];
  const background = createCatchUp({ databaseOf: () => service.db, onError: (_, __, id) => failed.push(id) });
  background.add(workspace.id, projectId);
  await eventually(
    async () => failed,
    ({ length }) => length > 0,
  );
  await background.close();
  expect(failed).toEqual([broken]);
});

// contract.md T61 and T65
it('the service counts in the background what a request has seen as unknown', async () => {
  await seedVersions(service.db, workspace, projectId, { sources: 1, languages: 60 });
  const get = (query: string) =>
    service.call(workspace.key, 'GET', `/api/projects/${projectId}/translations${query}`);
  expect((await get('?limit=100')).body.unknown).toBe(10);
  const known = await eventually(
    async () => (await get('?state=unknown')).body,
    ({ unknown }) => unknown === 0,
  );
  expect(known.translations).toEqual([]);
  const { body } = await get('?state=current&limit=100');
  expect(body.translations).toHaveLength(60);
  expect(body.translations[0]).toMatchObject({ state: 'known', job: null, states: { current: 6, stale: 0 } });
  expect((await get('?state=other')).status).toBe(400);
  expect((await get('?cursor=x')).status).toBe(400);
});

import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import { readTextBytes } from '../../src/db/quotas.ts';
import type { Block, DocumentJson } from '../../src/document/format/schema.ts';
import { type ArticleId, type JobId, newId, type ProjectId } from '../../src/ids.ts';
import { deleteEntry } from '../../src/translations/memory/delete.ts';
import { candidatesOf } from '../../src/translations/memory/look-up.ts';
import { remember } from '../../src/translations/memory/remember.ts';
import type { MemoryEntry } from '../../src/translations/memory/schemas.ts';
import { pruneMemory } from '../../src/translations/prune.ts';
import { createArticle, SHORT_DOCUMENT } from '../support/articles.ts';
import type { TestWorkspace } from '../support/service.ts';
import { useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, workspace, calls } = useTranslations({ credits: 100 });

let projectId: ProjectId;
beforeEach(async () => {
  projectId = await service.project(workspace);
});

async function translateNew(document: DocumentJson = SHORT_DOCUMENT, inProject = projectId, language = 'es') {
  // Another title than the heading's text: each is an entry of its own.
  const source = await createArticle(service.db, workspace, inProject, { document, title: 'In spring' });
  const done = await calls.translateTo(workspace, source.id, language);
  expect(done.job.status, done.job.errorMessage ?? '').toBe('COMPLETED');
  return { ...done, source };
}
const call = (method: string, path: string, body?: unknown, from: TestWorkspace = workspace) =>
  service.call(from.key, method, path, body);
const headingOf = (version: Article) =>
  (version.documentJson.blocks.find(({ id }: Block) => id === 'h') as { text: string }).text;
/** What a new translation of the same text says. */
const nextHeading = async (inProject = projectId) =>
  headingOf((await translateNew(SHORT_DOCUMENT, inProject)).article);

async function write(id: string, heading: string): Promise<void> {
  const { documentJson } = (await call('GET', `/api/articles/${id}`)).body.article as Article;
  const blocks = documentJson.blocks.map((block: Block) =>
    block.id === 'h' ? { ...block, text: heading } : block,
  );
  expect((await call('PATCH', `/api/articles/${id}`, { documentJson: { version: 1, blocks } })).status).toBe(
    200,
  );
}
async function approve(id: string): Promise<void> {
  const { status } = await call('POST', `/api/articles/${id}/reviews`, { decision: 'approved' });
  expect(status).toBeLessThan(300);
}
/** A new version with a person's words in its heading, approved. */
async function approved(heading: string, inProject = projectId): Promise<Article> {
  const { article } = await translateNew(SHORT_DOCUMENT, inProject);
  await write(article.id, heading);
  await approve(article.id);
  return article;
}
/** Has the next translation read the version again. */
const readAgain = (id: string) =>
  service.db
    .updateTable('remembered_versions')
    .set({ claimed_at: new Date(Date.now() - 61_000), read_of: null })
    .where('article_id', '=', id as ArticleId)
    .execute();

const memoryOf = (query = '', from: TestWorkspace = workspace, of: TestWorkspace = workspace) =>
  call('GET', `/api/workspaces/${of.id}/translation-memory${query}`, undefined, from);
async function entries(query = ''): Promise<MemoryEntry[]> {
  const { status, body } = await memoryOf(query);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.entries as MemoryEntry[];
}
async function entryOf(query: string): Promise<MemoryEntry> {
  const [entry, ...others] = await entries(query);
  expect(others).toEqual([]);
  return entry as MemoryEntry;
}
const remove = (id: string, from: TestWorkspace = workspace) =>
  call('DELETE', `/api/workspaces/${from.id}/translation-memory/${id}`, undefined, from);
const share = (sharedMemory: boolean) => call('PATCH', `/api/workspaces/${workspace.id}`, { sharedMemory });
const auditOf = async (action: string) =>
  (await call('GET', `/api/workspaces/${workspace.id}/audit`)).body.entries.filter(
    (entry: { action: string }) => entry.action === action,
  );

describe('of two approved translations of a text', () => {
  // contract.md V51
  it('the one approved latest counts, in whatever order they were read', async () => {
    const first = await approved('El primero');
    const second = await approved('El segundo');
    expect(await nextHeading()).toBe('El segundo');
    await readAgain(first.id);
    expect(await nextHeading()).toBe('El segundo');
    // A save of what is approved is no new approval.
    await write(first.id, 'El primero corregido');
    expect(await nextHeading()).toBe('El segundo');
    expect((await call('POST', `/api/articles/${first.id}/publish`)).status).toBe(200);
    expect(await nextHeading()).toBe('El primero corregido');
    await readAgain(second.id);
    expect(await nextHeading()).toBe('El primero corregido');
    const { createdAt } = await entryOf('?q=primero');
    const { publishedAt } = (await call('GET', `/api/articles/${first.id}`)).body.article;
    expect(createdAt).toBe(publishedAt);
  });

  // contract.md V51 and V52
  it('it is found along an index, however much is remembered and however often one text was approved', async () => {
    const { article } = await translateNew();
    const fill = (layer: string, madeBy: string, key: string, count: number) =>
      sql`
        WITH version AS (
          INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
            translation_group_id)
          SELECT gen_random_uuid(), ${workspace.id}, ${projectId}, 'x', ${layer} || n, 'APPROVED', '{}', 'es',
            gen_random_uuid() FROM generate_series(1, 100) AS n RETURNING id
        ), numbered AS (SELECT id, row_number() OVER () AS n FROM version)
        INSERT INTO translation_memory (workspace_id, project_id, article_id, layer, made_by, kind, source_language,
          target_language, text_key, source_text, target_text)
        SELECT ${workspace.id}, ${projectId}, numbered.id, ${layer}, ${madeBy}, 'paragraph', 'en', 'es',
          ${sql.raw(key)}, 'text', 'words' FROM numbered CROSS JOIN generate_series(1, ${count}::integer) AS m`.execute(
        service.db,
      );
    await fill('machine', 'engine', `'text ' || m`, 150);
    await fill('people', '', `CASE m WHEN 1 THEN 'often' ELSE 'text ' || m || ' of ' || n END`, 150);
    await sql`ANALYZE translation_memory`.execute(service.db);
    const keys = new Map(['often', 'text 7'].map((text) => [text, { text, maker: 'engine' }] as const));
    const question = {
      jobId: newId<JobId>(),
      workspaceId: workspace.id,
      sourceId: article.id as ArticleId,
      languages: { sourceLanguage: 'en', targetLanguage: 'es' },
      bypassMemory: false,
    };
    for (const scope of [projectId, null]) {
      const query = candidatesOf(question, { workspaceId: workspace.id, projectId: scope }, keys);
      const { rows } = await sql<{ 'QUERY PLAN': string }>`EXPLAIN ${query}`.execute(service.db);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toContain(
        scope === null ? 'translation_memory_text_idx' : 'translation_memory_project_idx',
      );
      expect(plan).not.toMatch(/Seq Scan on translation_memory|Bitmap/);
    }
  });
});

describe('what people approved in one project', () => {
  // contract.md V52 and V56
  it('serves another only while the workspace shares its memory, which a setting says', async () => {
    await approved('El primero');
    const other = await service.project(workspace);
    const read = async () => (await call('GET', `/api/workspaces/${workspace.id}`)).body.workspace;
    expect(await read()).toMatchObject({ id: workspace.id, sharedMemory: false });
    // What the engine made is shared all the same.
    const before = await translateNew(SHORT_DOCUMENT, other);
    expect([headingOf(before.article) === 'El primero', await nextHeading()]).toEqual([false, 'El primero']);

    const changed = await share(true);
    expect([changed.status, changed.body.workspace.sharedMemory]).toEqual([200, true]);
    expect([(await read()).sharedMemory, await nextHeading(other)]).toEqual([true, 'El primero']);
    expect((await share(false)).status).toBe(200);
    expect(await nextHeading(other)).not.toBe('El primero');
    const details = (await auditOf('workspaces.updated')).map((entry: { details: unknown }) => entry.details);
    expect(details).toEqual([{ sharedMemory: false }, { sharedMemory: true }]);
    for (const body of [{}, { sharedMemory: null }, { sharedMemory: 'true' }]) {
      expect((await call('PATCH', `/api/workspaces/${workspace.id}`, body)).status).toBe(400);
    }
  });
});

describe('a deleted entry', () => {
  // contract.md V54 and V56
  it('stays away however often its version is read, and comes back when the text there changes', async () => {
    const version = await approved('El primero');
    expect(await nextHeading()).toBe('El primero');
    const entry = await entryOf('?q=El%20primero');
    expect((await remove(entry.id)).status).toBe(200);
    expect([(await remove(entry.id)).status, await entries('?q=El%20primero')]).toEqual([404, []]);
    expect(await nextHeading()).not.toBe('El primero');
    await readAgain(version.id);
    expect(await nextHeading()).not.toBe('El primero');
    expect((await call('POST', `/api/articles/${version.id}/publish`)).status).toBe(200);
    expect(await nextHeading()).not.toBe('El primero');
    // Nor does it go where nothing is used for long.
    await pruneMemory(service.db, -60_000);
    await readAgain(version.id);
    expect(await nextHeading()).not.toBe('El primero');
    await write(version.id, 'El segundo');
    expect(await nextHeading()).toBe('El segundo');

    const logged = await auditOf('translation_memory.entry_deleted');
    expect(logged).toEqual([
      expect.objectContaining({
        targetType: 'translation_memory_entry',
        targetId: entry.id,
        details: { origin: 'people', language: 'es', articleId: version.id },
      }),
    ]);
  });

  // contract.md V54
  it("stays away as an engine's text, too, also from a run that writes it at the same moment", async () => {
    const { job } = await translateNew();
    const entry = await entryOf('?q=garden');
    expect(entry.origin).toBe('engine');
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { promise: isHeld, resolve: holds } = Promise.withResolvers<void>();
    const holder = service.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM translation_memory WHERE id = ${entry.id} FOR UPDATE`.execute(tx);
      holds();
      await held;
    });
    await isHeld;
    const waiting = async () => {
      const { rows } = await sql<{ n: number }>`
        SELECT count(*)::integer AS n FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(service.db);
      return rows[0]?.n;
    };
    const deleted = deleteEntry(workspace.context, entry.id as never);
    await eventually(waiting, (n) => n === 1);
    const remembered = remember(service.db, job.id as JobId);
    await eventually(waiting, (n) => n === 2);
    release();
    await Promise.all([holder, deleted, remembered]);
    expect(await entries('?q=garden')).toEqual([]);
    await remember(service.db, job.id as JobId);
    expect(await entries('?q=garden')).toEqual([]);
  });
});

describe('the list of the memory', () => {
  // contract.md V53 and V55
  it('has what people approved and what engines made, with where it comes from and whether it serves', async () => {
    const version = await approved('El **primero**');
    const { article } = await translateNew({
      version: 1,
      blocks: [{ id: 'q', type: 'quote', text: 'R & D, **bold** moves', format: 'markdown' } as Block],
    });
    expect(await entryOf('?q=primero')).toEqual({
      id: expect.any(String),
      origin: 'people',
      kind: 'heading',
      sourceLanguage: 'en',
      language: 'es',
      sourceText: 'A garden in spring',
      targetText: 'El **primero**',
      projectId,
      article: { id: version.id, title: version.title },
      serves: true,
      createdAt: expect.any(String),
    });
    // Found as people read it, whatever is bold in it, and in any case.
    const quote = await entryOf(`?language=es&q=${encodeURIComponent('r & d, BOLD moves')}`);
    expect(quote).toMatchObject({
      origin: 'engine',
      kind: 'quote',
      sourceText: 'R & D, bold moves',
      article: { id: article.id },
    });
    expect([await entries('?language=de'), await entries('?q=%25')]).toEqual([[], []]);
    await write(version.id, 'El segundo');
    expect((await entryOf('?q=primero')).serves).toBe(false);
  });

  // contract.md V55
  it('is paged, newest first, each entry once, and has none of a deleted project', async () => {
    await translateNew();
    await translateNew(SHORT_DOCUMENT, projectId, 'de');
    const all = await entries();
    const read: MemoryEntry[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await memoryOf(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(body.entries.length).toBeLessThanOrEqual(2);
      read.push(...body.entries);
      cursor = body.nextCursor;
    }
    expect(read).toEqual(all);
    expect(all.length).toBe(6);
    expect(all.map(({ createdAt }) => createdAt)).toEqual(
      all
        .map(({ createdAt }) => createdAt)
        .sort()
        .reverse(),
    );
    expect(new Set((await entries('?language=de')).map(({ language }) => language))).toEqual(new Set(['de']));
    for (const query of ['?q=', `?q=${'x'.repeat(101)}`, '?language=spanish-', '?cursor=x', '?limit=101']) {
      expect((await memoryOf(query)).status, query).toBe(400);
    }
    const entry = all[0] as MemoryEntry;
    expect((await call('DELETE', `/api/projects/${projectId}`)).status).toBe(200);
    expect([await entries(), (await remove(entry.id)).status]).toEqual([[], 404]);
  });

  // contract.md V55
  it('costs the same whatever is looked for: a request goes through 5,000 entries or 2 MiB, and says where it stopped', async () => {
    const { article } = await translateNew();
    const fill = (count: number, bytes: number, hours: number) =>
      sql`
        INSERT INTO translation_memory (workspace_id, project_id, article_id, layer, made_by, kind, source_language,
          target_language, text_key, source_text, target_text, written_at)
        SELECT ${workspace.id}, ${projectId}, ${article.id}, 'machine', 'x', 'paragraph', 'en', 'es',
          ${`${hours} `} || n, repeat('a', ${bytes}::integer) || n, 'words', now() + make_interval(hours => ${hours})
        FROM generate_series(1, ${count}::integer) AS n`.execute(service.db);
    await fill(12_000, 20, 1);
    await fill(500, 16_000, 2);
    let [cursor, requests]: [string | null, number] = [null, 0];
    const found: MemoryEntry[] = [];
    do {
      const began = performance.now();
      const { body } = await memoryOf(`?q=garden${cursor === null ? '' : `&cursor=${cursor}`}`);
      expect(performance.now() - began).toBeLessThan(2_000);
      expect(JSON.stringify(body).length).toBeLessThan(300_000);
      found.push(...body.entries);
      cursor = body.nextCursor;
      requests += 1;
    } while (cursor !== null);
    // 8 MB of texts, then three rounds of small ones.
    expect([found.map(({ sourceText }) => sourceText), requests]).toEqual([['A garden in spring'], 6]);
    const { body } = await memoryOf('?limit=100');
    expect(body.entries.length).toBeLessThan(20);
    expect(JSON.stringify(body).length).toBeLessThan(300_000);
  });

  // contract.md V56
  it("shows no other workspace's entries, and deletes none", async () => {
    await translateNew();
    const entry = (await entries())[0] as MemoryEntry;
    const stranger = await service.workspace();
    expect((await memoryOf('', stranger, stranger)).body).toEqual({ entries: [], nextCursor: null });
    const asked = [
      memoryOf('', stranger),
      call('DELETE', `/api/workspaces/${workspace.id}/translation-memory/${entry.id}`, undefined, stranger),
      remove(entry.id, stranger),
      call('GET', `/api/workspaces/${workspace.id}`, undefined, stranger),
      call('PATCH', `/api/workspaces/${workspace.id}`, { sharedMemory: true }, stranger),
    ];
    for (const { status } of await Promise.all(asked)) expect(status).toBe(404);
    expect(await entries()).toContainEqual(entry);
  });
});

// contract.md V53
it('the texts of entries count for the storage quota until they go', async () => {
  const used = () => readTextBytes(service.db, workspace.id);
  const { article } = await translateNew();
  const [before, all] = [await used(), await entries()];
  const inMemory = () =>
    sql<{ bytes: number }>`
      SELECT coalesce(sum(octet_length(source_text) + octet_length(target_text)), 0)::integer AS bytes
      FROM translation_memory WHERE workspace_id = ${workspace.id}`
      .execute(service.db)
      .then(({ rows }) => rows[0]?.bytes ?? 0);
  const bytes = await inMemory();
  expect(bytes).toBeGreaterThan(0);
  expect((await remove((all[0] as MemoryEntry).id)).status).toBe(200);
  const left = await inMemory();
  expect(left).toBeLessThan(bytes);
  expect(await used()).toBe(before - bytes + left);
  await service.db
    .deleteFrom('translation_memory')
    .where('article_id', '=', article.id as ArticleId)
    .execute();
  expect(await used()).toBe(before - bytes);
});

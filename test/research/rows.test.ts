import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { readTextBytes } from '../../src/db/quotas.ts';
import type { ProjectId, SourceId } from '../../src/ids.ts';
import { type JobId, newId } from '../../src/ids.ts';
import { MAX_SOURCES } from '../../src/research/limits.ts';
import type { Page } from '../../src/research/reading/page.ts';
import {
  forgetResearch,
  type ResearchOf,
  readSources,
  storeClaims,
  storeNotes,
  storeSource,
} from '../../src/research/store.ts';
import { createArticle } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';

const service = useTestService();
let workspace: TestWorkspace;
let projectId: ProjectId;
beforeAll(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
});

const page = (name: string): Page => ({
  url: `https://garden.example/${name}`,
  title: `About ${name}`,
  site: 'The Garden',
  publishedAt: name === 'undated' ? null : new Date('2026-05-12T08:00:00Z'),
  text: `All about ${name}.\n\nIt needs 20 litres of water a week.`,
  hash: createHash('sha256').update(name).digest('hex'),
  fetchedAt: new Date('2026-11-21T07:30:00Z'),
});

async function researched(): Promise<ResearchOf> {
  const { id } = await createArticle(service.db, workspace, projectId);
  return { workspaceId: workspace.id, articleId: id, jobId: newId<JobId>() };
}
const stored = async (of: ResearchOf, name: string): Promise<SourceId> => {
  const id = await storeSource(service.db, of, page(name));
  if (id === null) throw new Error('not stored');
  return id;
};
const readNotes = async ({ workspaceId, articleId }: ResearchOf) =>
  (
    await service.db
      .selectFrom('article_notes')
      .select(['source_id', 'quote'])
      .where('workspace_id', '=', workspaceId)
      .where('article_id', '=', articleId)
      .orderBy('position')
      .execute()
  ).map((row) => ({ sourceId: row.source_id, quote: row.quote }));
const get = (of: ResearchOf, list: 'sources' | 'claims', key = workspace.key) =>
  service.call(key, 'GET', `/api/articles/${of.articleId}/${list}`);

// contract.md N10 and N11
describe('the sources of an article', () => {
  it('are none before research', async () => {
    const of = await researched();
    expect((await get(of, 'sources')).body).toEqual({ sources: [] });
    expect((await get(of, 'claims')).body).toEqual({ claims: [] });
  });

  it('are listed in the order in which they were read, each with its notes, and never their texts', async () => {
    const of = await researched();
    const [tomatoes, undated] = [await stored(of, 'tomatoes'), await stored(of, 'undated')];
    const notes = [
      { sourceId: undated, quote: 'All about undated' },
      { sourceId: tomatoes, quote: 'needs 20 litres of water' },
      { sourceId: tomatoes, quote: 'All about tomatoes' },
    ];
    await service.db.transaction().execute((tx) => storeNotes(tx, of, notes));
    const { body } = await get(of, 'sources');
    expect(body).toEqual({
      sources: [
        {
          id: tomatoes,
          url: 'https://garden.example/tomatoes',
          title: 'About tomatoes',
          site: 'The Garden',
          publishedAt: '2026-05-12T08:00:00.000Z',
          fetchedAt: '2026-11-21T07:30:00.000Z',
          notes: ['needs 20 litres of water', 'All about tomatoes'].map((quote) => ({
            id: expect.any(String),
            quote,
          })),
        },
        expect.objectContaining({
          id: undated,
          publishedAt: null,
          notes: [expect.objectContaining({ quote: 'All about undated' })],
        }),
      ],
    });
    expect(await readNotes(of)).toEqual(notes);
    expect((await readSources(service.db, of)).map(({ position, text }) => [position, text])).toEqual([
      [1, page('tomatoes').text],
      [2, page('undated').text],
    ]);
  });

  it('are each address once, also when an attempt is repeated, and 32 at most', async () => {
    const of = await researched();
    const first = await stored(of, 'a');
    expect(await storeSource(service.db, of, { ...page('a'), text: 'Another text.' })).toBe(first);
    for (let number = 1; number < MAX_SOURCES; number += 1) await stored(of, `page-${number}`);
    expect(await storeSource(service.db, of, page('one-too-many'))).toBeNull();
    expect(await stored(of, 'a')).toBe(first);
    const sources = await readSources(service.db, of);
    expect(sources.map(({ position }) => position)).toEqual(Array.from({ length: 32 }, (_, at) => at + 1));
    expect(sources[0]?.text).toBe(page('a').text);
  });

  // contract.md N37
  it('count with their texts for the storage quota, and are stored beyond it', async () => {
    const own = await service.workspace();
    const { id } = await createArticle(service.db, own, await service.project(own));
    const of = { workspaceId: own.id, articleId: id, jobId: newId<JobId>() };
    const before = await readTextBytes(service.db, own.id);
    const text = 'Grün \u{1F331}'.repeat(1_000);
    await storeSource(service.db, of, { ...page('a'), text });
    await storeSource(service.db, of, { ...page('a'), text: 'The same address.' });
    expect((await readTextBytes(service.db, own.id)) - before).toBe(Buffer.byteLength(text));
    const full = async () => {
      const storageBytes = await readTextBytes(service.db, own.id);
      await service.db
        .updateTable('workspaces')
        .set({ storage_bytes_limit: storageBytes })
        .where('id', '=', own.id)
        .execute();
    };
    await full();
    expect(await storeSource(service.db, of, { ...page('b'), text })).not.toBeNull();
    const project = await service.project(own);
    const create = () =>
      service.call(own.key, 'POST', `/api/projects/${project}/articles`, { title: 'More' });
    expect((await create()).body).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    await service.db.transaction().execute((tx) => forgetResearch(tx, of));
    expect(await readTextBytes(service.db, own.id)).toBe(before);
    expect((await create()).status).toBe(201);
    await storeSource(service.db, of, page('c'));
    await service.call(own.key, 'DELETE', `/api/articles/${id}`);
    const made = await sql<{ bytes: number }>`
      SELECT sum(bytes)::float8 AS bytes FROM articles WHERE workspace_id = ${own.id}`.execute(service.db);
    expect(await readTextBytes(service.db, own.id)).toBe(made.rows[0]?.bytes);
  });

  it('are read with articles.read only, and in their workspace', async () => {
    const of = await researched();
    const stranger = await service.workspace();
    for (const list of ['sources', 'claims'] as const) {
      expect((await get(of, list, stranger.key)).status).toBe(404);
    }
  });

  it('cannot be cited by notes of another article', async () => {
    const [one, other] = [await researched(), await researched()];
    const sourceId = await stored(one, 'a');
    const storing = service.db
      .transaction()
      .execute((tx) => storeNotes(tx, other, [{ sourceId, quote: 'All about a' }]));
    await expect(storing).rejects.toThrow(/article_notes_source_fkey/);
  });

  it('go with their article, and when it is researched anew', async () => {
    const left = async () => {
      const tables = ['article_sources', 'article_notes', 'article_claims'] as const;
      const counts = tables.map((table) =>
        service.db
          .selectFrom(table)
          .select(({ fn }) => fn.countAll<string>().as('rows'))
          .executeTakeFirstOrThrow(),
      );
      return (await Promise.all(counts)).map(({ rows }) => Number(rows));
    };
    const before = await left();
    const full = async (): Promise<ResearchOf> => {
      const of = await researched();
      const sourceId = await stored(of, 'a');
      await service.db.transaction().execute(async (tx) => {
        await storeNotes(tx, of, [{ sourceId, quote: 'All about a' }]);
        const evidence = { sourceId, passage: 'All about a.' };
        await storeClaims(tx, of, [{ blockId: 'p', sentence: 'S.', verdict: 'supported', evidence }]);
      });
      return of;
    };
    const [deleted, anew] = [await full(), await full()];
    expect(await left()).toEqual(before.map((rows) => rows + 2));
    expect(
      (await service.call(workspace.key, 'DELETE', `/api/articles/${deleted.articleId}`)).status,
    ).toBeLessThan(300);
    await service.db.transaction().execute((tx) => forgetResearch(tx, anew));
    expect(await left()).toEqual(before);
  });
});

// contract.md N13
describe('the claims of an article', () => {
  it('are listed in the order of the text with verdict and passage, and say when their sentence is gone', async () => {
    const of = await researched();
    const sourceId = await stored(of, 'plants');
    const evidence = { sourceId, passage: 'It needs 20 litres of water a week.' };
    await service.db.transaction().execute((tx) =>
      storeClaims(tx, of, [
        // As shown: the block has Markdown.
        {
          blockId: 'p',
          sentence: 'Water the  young plants in the morning.',
          verdict: 'contradicted',
          evidence,
        },
        { blockId: 'h', sentence: 'A garden in spring', verdict: 'not_found', evidence: null },
        { blockId: 'gone', sentence: 'A garden in spring', verdict: 'supported', evidence },
      ]),
    );
    const shown = async () => (await get(of, 'claims')).body.claims;
    expect(await shown()).toEqual([
      {
        id: expect.any(String),
        blockId: 'p',
        sentence: 'Water the  young plants in the morning.',
        verdict: 'contradicted',
        changed: false,
        sourceId,
        passage: evidence.passage,
      },
      expect.objectContaining({
        blockId: 'h',
        verdict: 'not_found',
        changed: false,
        sourceId: null,
        passage: null,
      }),
      expect.objectContaining({ blockId: 'gone', verdict: 'supported', changed: true }),
    ]);
    const documentJson = {
      version: 1,
      blocks: [{ id: 'p', type: 'paragraph', text: 'Water them at noon.' }],
    };
    const saved = await service.call(workspace.key, 'PATCH', `/api/articles/${of.articleId}`, {
      documentJson,
    });
    expect(saved.status).toBe(200);
    expect((await shown()).map(({ changed }: { changed: boolean }) => changed)).toEqual([true, true, true]);
  });

  it('have no verdict without a passage, but that nothing was found', async () => {
    const of = await researched();
    const claim = { blockId: 'p', sentence: 'S.', verdict: 'supported' as const, evidence: null };
    await expect(service.db.transaction().execute((tx) => storeClaims(tx, of, [claim]))).rejects.toThrow(
      /check/,
    );
  });
});

import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { newId, type ProjectId } from '../../src/ids.ts';
import { type Editing, editing } from '../articles/support.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';

const service = useTestService();
let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;
beforeAll(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});

const PAGE_BYTES = 256 * 1_024;
const get = (path: string) => service.call(workspace.key, 'GET', path);

// contract.md A55
it('the versions of an article are listed whole by language, however wide they are, each compared with its source', async () => {
  const group = newId();
  // Six bytes a character as JSON: 200 KB each.
  await sql`
    INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
      translation_group_id, target_keywords, secondary_keywords)
    SELECT gen_random_uuid(), ${workspace.id}, ${projectId}, 'Wide', 'wide-' || n, 'DRAFT',
      '{"version":1,"blocks":[]}', 'de-x-' || lpad(n::text, 3, '0'), ${group}::uuid, words, words
    FROM generate_series(1, 12) AS n, LATERAL (
      SELECT CASE WHEN n % 3 = 0 THEN '{}' ELSE array_fill('x' || repeat(chr(1), 199), ARRAY[90]) END AS words
    ) AS keywords`.execute(service.db);
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM articles WHERE translation_group_id = ${group}::uuid ORDER BY primary_language COLLATE "C"`.execute(
    service.db,
  );
  const ids = rows.map(({ id }) => id);
  const sourceId = ids.at(-1);
  await sql`
    INSERT INTO article_provenance (article_id, workspace_id, source_article_id, units)
    SELECT id, workspace_id, ${sourceId}::uuid, '[]' FROM articles
    WHERE translation_group_id = ${group}::uuid AND id <> ${sourceId}::uuid`.execute(service.db);

  const versions = await get(`/api/articles/${ids[4]}/versions`);
  expect(versions.body.versions.map(({ id }: { id: string }) => id)).toEqual(ids);
  const { translations } = (await get(`/api/articles/${ids[4]}/translations`)).body;
  expect(translations.map(({ article }: { article: { id: string } }) => article.id)).toEqual(ids);
  expect(translations.map(({ tracking }: { tracking: string }) => tracking)).toEqual([
    ...Array(11).fill('managed'),
    'unmanaged',
  ]);
  expect(translations.slice(0, 11).every(({ states }: { states: unknown }) => states !== null)).toBe(true);
  // Sent in pieces: how long it gets is not known when it begins.
  expect([versions.status, versions.headers.get('content-length')]).toEqual([200, null]);
});

// contract.md A55
it('a page is measured as the JSON that is sent, and pages together are the whole list', async () => {
  const { id } = await editor.create(projectId);
  await sql`
    INSERT INTO reviews (id, workspace_id, article_id, decision, previous_status, comment)
    SELECT gen_random_uuid(), ${workspace.id}, ${id}, 'rejected', 'DRAFT', 'x' || repeat(chr(1), 4999)
    FROM generate_series(1, 30)`.execute(service.db);
  const seen = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await get(
      `/api/articles/${id}/reviews?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    expect(JSON.stringify(body.reviews).length).toBeLessThan(PAGE_BYTES + 4_096);
    for (const review of body.reviews) seen.add(review.id);
    cursor = body.nextCursor;
  }
  expect(seen.size).toBe(30);
});

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import type { ProjectId } from '../../src/ids.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { documentOf, type Editing, editing, paragraph } from './support.ts';

const service = useTestService();

let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;

beforeAll(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});

// contract.md R2
it('old slugs of published articles redirect, live ones go first, and a draft leaves none', async () => {
  const find = async (slug: string) => {
    const { status, body } = await editor.call(
      'GET',
      `/api/projects/${projectId}/articles/by-slug?language=EN&slug=${slug}`,
    );
    return status === 200 ? [body.article.id, body.redirect] : status;
  };
  const { id } = await editor.published(projectId, { title: 'First name' });
  await editor.patch(id, { title: 'Second name' });
  await editor.patch(id, { title: 'Third name' });
  expect(await find('first-name')).toEqual([id, true]);
  expect(await find('second-name')).toEqual([id, true]);
  expect(await find('third-name')).toEqual([id, false]);
  expect(await find('fourth-name')).toBe(404);

  // A new title does not take the old address away; one who asks for it by name does.
  const next = await editor.create(projectId, { title: 'First name' });
  expect(next.slug).toBe('first-name-2');
  const taken = await editor.patch(next.id, { slug: 'third-name' });
  expect([taken.status, taken.body.details.reason]).toEqual([409, 'slug_taken']);
  expect((await editor.patch(next.id, { slug: 'second-name' })).status).toBe(200);
  expect(await find('second-name')).toEqual([next.id, false]);
  expect((await editor.patch(next.id, { slug: 'no-name' })).status).toBe(200);
  expect(await find('second-name')).toBe(404);

  // Back to an old name: it is the present one again and redirects nowhere.
  await editor.patch(id, { slug: 'first-name' });
  expect(await find('first-name')).toEqual([id, false]);
  expect(await find('third-name')).toEqual([id, true]);
  await editor.remove(id);
  expect(await find('third-name')).toBe(404);
  const again = await editor.call('POST', `/api/projects/${projectId}/articles`, {
    title: 'X',
    slug: 'no-name',
  });
  expect([again.status, again.body.details.reason]).toEqual([409, 'slug_taken']);
});

// contract.md R2
it('many articles that get one title at once get one slug each', async () => {
  const COUNT = 32;
  const made = await Promise.all(
    Array.from({ length: COUNT }, () => editor.create(projectId, { title: 'Same name' })),
  );
  const renamed = await Promise.all(
    made.map(({ id }) => editor.patch(id, { title: 'Another name' }).then(({ body }) => body.article)),
  );
  const slugs = (stem: string) =>
    Array.from({ length: COUNT }, (_, index) => (index === 0 ? stem : `${stem}-${index + 1}`));
  expect(made.map(({ slug }) => slug).sort()).toEqual(slugs('same-name').sort());
  expect(renamed.map(({ slug }) => slug).sort()).toEqual(slugs('another-name').sort());
});

it('a title whose slug is taken by others again and again is refused for now, not tried without an end', async () => {
  const { id } = await editor.create(projectId, { title: 'Calm' });
  // Stands for articles that are inserted under the slug between its choice and its write.
  await sql`CREATE FUNCTION lose_slug() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE unique_violation USING CONSTRAINT = 'articles_slug_key'; END $$`.execute(service.db);
  await sql`CREATE TRIGGER lose_slug BEFORE UPDATE OF slug ON articles FOR EACH ROW
    WHEN (NEW.slug LIKE 'fought-over%') EXECUTE FUNCTION lose_slug()`.execute(service.db);
  const refused = await editor.patch(id, { title: 'Fought over' });
  expect([refused.status, refused.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(refused.body.detail).toContain('slug');
  const named = await editor.patch(id, { slug: 'fought-over' });
  expect([named.status, named.body.details.reason]).toEqual([409, 'slug_taken']);
  await sql`DROP TRIGGER lose_slug ON articles`.execute(service.db);
  expect((await editor.patch(id, { title: 'Fought over' })).body.article.slug).toBe('fought-over');
});

it('drops dead links on the next save', async () => {
  const target = await editor.create(projectId, { title: 'Target' });
  const link = { text: 'the target', articleId: target.id };
  const linker = await editor.create(projectId, {
    title: 'Linker',
    documentJson: documentOf({
      ...paragraph('See the target here.'),
      links: [link, { text: 'gone words', articleId: randomUUID() }],
    }),
  });
  expect(linker.documentJson.blocks[0]).toMatchObject({ links: [link] });
  // Sent again with its link, whose words are gone by now.
  const [kept] = (await editor.read(linker.id)).documentJson.blocks;
  const saved = await editor.patch(linker.id, {
    documentJson: documentOf({ ...kept, text: 'See the goal here.' }),
  });
  expect(saved.status).toBe(200);
  const stored = (await editor.read(linker.id)).documentJson;
  expect(stored).toEqual(documentOf(paragraph('See the goal here.')));
});

it('keeps the first link to an article only, in the whole document', async () => {
  const target = await editor.create(projectId, { title: 'Linked twice' });
  const other = await editor.create(projectId, { title: 'Linked once' });
  const first = { text: 'the target', articleId: target.id };
  const single = { text: 'another', articleId: other.id };
  const linker = await editor.create(projectId, {
    title: 'Linker of two',
    documentJson: documentOf(
      { ...paragraph('See the target here.', 'a'), links: [first, { text: 'here', articleId: target.id }] },
      { ...paragraph('And the target again, and another.', 'b'), links: [first, single] },
    ),
  });
  expect((await editor.read(linker.id)).documentJson).toEqual(
    documentOf(
      { ...paragraph('See the target here.', 'a'), links: [first] },
      { ...paragraph('And the target again, and another.', 'b'), links: [single] },
    ),
  );
});

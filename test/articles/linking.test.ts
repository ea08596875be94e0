import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { renderLinking } from '../../src/articles/linking.ts';
import type { Article } from '../../src/articles/schemas.ts';
import { createDatabase } from '../../src/db/database.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import type { ArticleId, ProjectId } from '../../src/ids.ts';
import { createArticle } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { untilWaiting } from '../translations/support/locks.ts';
import { documentOf, type Editing, editing, paragraph, renderLinks } from './support.ts';

const service = useTestService();

let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;

beforeAll(async () => {
  workspace = await service.workspace();
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});

const linkTo = (...articleIds: string[]) =>
  documentOf(
    ...articleIds.map((articleId, index) => ({
      ...paragraph('See the target here.', `p${index}`),
      links: [{ text: 'the target', articleId }],
    })),
  );
const PLAIN = '<p>See the target here.</p>';
const shown = (address: string) => `<p>See <a href="${address}">the target</a> here.</p>`;
const html = async (id: string) => (await editor.read(id)).contentHtml;
const useTemplate = (id: ProjectId, addressTemplate: string | null) =>
  editor.call('PATCH', `/api/projects/${id}`, { addressTemplate });
const changes = async (id: string) =>
  (await editor.events(id))
    .filter(({ event }) => event === 'article.updated')
    .map(({ data }) => data.changed);
const left = async () => {
  const { rows } = await sql<{ count: number }>`
    SELECT ((SELECT count(*) FROM address_changes) + (SELECT count(*) FROM stale_renderings))::integer AS count
  `.execute(service.db);
  return rows[0]?.count;
};
const stale = async () =>
  (await service.db.selectFrom('stale_renderings').select('article_id').execute()).map(
    (row) => row.article_id,
  );

// contract.md R9 and F5
it('shows a link while its target is PUBLISHED and has an address, whatever happens to it', async () => {
  const own = await service.project(workspace);
  const target = await editor.create(own, { title: 'Target' });
  const linker = await editor.published(own, { title: 'Linker', documentJson: linkTo(target.id) });
  const reported = 'https://blog.example.com/one?a=1&b=2';
  const byTemplate = (slug: string) => shown(`https://example.com/en/${slug}`);
  const byReport = shown('https://blog.example.com/one?a=1&amp;b=2');
  const moves = [
    ['submitted', () => editor.submit(target.id), PLAIN],
    ['approved', () => editor.review(target.id, 'approved'), PLAIN],
    ['published without an address', () => editor.publish(target.id), PLAIN],
    ['given one', () => useTemplate(own, 'https://example.com/{language}/{slug}'), byTemplate('target')],
    ['renamed', () => editor.patch(target.id, { title: 'Goal' }), byTemplate('goal')],
    ['saved', () => editor.patch(target.id, { metaTitle: 'Goal' }), byTemplate('goal')],
    ['given none', () => useTemplate(own, null), PLAIN],
    [
      'given one again',
      () => useTemplate(own, 'https://example.com/{slug}/{language}'),
      shown('https://example.com/goal/en'),
    ],
    ['unpublished', () => editor.unpublish(target.id), PLAIN],
    ['submitted', () => editor.submit(target.id), PLAIN],
    ['approved', () => editor.review(target.id, 'approved'), PLAIN],
    ['published with an address of its own', () => editor.publish(target.id, reported), byReport],
    ['given another template', () => useTemplate(own, 'https://example.com/{slug}'), byReport],
    ['sent back', () => editor.review(target.id, 'changes_requested'), PLAIN],
    ['submitted', () => editor.submit(target.id), PLAIN],
    ['approved', () => editor.review(target.id, 'approved'), PLAIN],
    ['published again', () => editor.publish(target.id), byReport],
    ['deleted', () => editor.remove(target.id), PLAIN],
  ] as const;
  let told = 0;
  for (const [what, move, expected] of moves) {
    const before = await editor.read(linker.id);
    expect((await move()).status, what).toBeLessThan(300);
    // What was rendered before the request ended is what was there before it.
    expect(await editor.read(linker.id), what).toEqual(before);
    await renderLinks(service.db);
    const after = await editor.read(linker.id);
    expect(after.contentHtml, what).toBe(expected);
    expect(after.contentMarkdown?.includes(']('), what).toBe(expected !== PLAIN);
    const isSame = before.contentHtml === expected;
    expect(after.updatedAt === before.updatedAt, what).toBe(isSame);
    if (!isSame) told += 1;
  }
  expect(await changes(linker.id)).toEqual(Array.from({ length: told }, () => ['content']));
  expect(await left()).toBe(0);
});

// contract.md R8
it('keeps what a publish reported, takes no other address, and writes it into the log', async () => {
  const approved = async () => {
    const { id } = await editor.create(projectId);
    await editor.submit(id);
    await editor.review(id, 'approved');
    return id;
  };
  const id = await approved();
  for (const bad of ['javascript:alert(1)', '/garden', 'https://a:b@example.com', 'ftp://example.com', 1]) {
    const answer = await editor.call('POST', `/api/articles/${id}/publish`, { publishedUrl: bad });
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/publishedUrl']);
  }
  const address = 'https://example.com/garden';
  const { body } = await editor.publish(id, address);
  expect(body.article).toMatchObject({ status: 'PUBLISHED', publishedUrl: address });
  expect((await editor.unpublish(id)).body.article.publishedUrl).toBe(address);
  const entry = await service.db
    .selectFrom('audit_entries')
    .select('details')
    .where('target_id', '=', id)
    .where('action', '=', 'articles.published')
    .executeTakeFirstOrThrow();
  expect(entry.details).toEqual({ publishedUrl: address });

  // A template gives links their address, and never shows as what was reported.
  const own = await service.project(workspace);
  await useTemplate(own, 'https://example.com/{slug}');
  expect((await editor.published(own)).publishedUrl).toBeNull();
});

// contract.md F5
it('keeps links plain that lead to another project, or to an article of somebody else', async () => {
  const neighbour = await service.workspace();
  const stranger = editing(service, neighbour);
  const theirs = await service.project(neighbour);
  await stranger.call('PATCH', `/api/projects/${theirs}`, {
    addressTemplate: 'https://theirs.example.com/{slug}',
  });
  const elsewhere = await service.project(workspace);
  await useTemplate(elsewhere, 'https://elsewhere.example.com/{slug}');
  await useTemplate(projectId, 'https://example.com/{slug}');
  const foreign = await stranger.published(theirs);
  const other = await editor.published(elsewhere);
  const linker = await editor.create(projectId, { documentJson: linkTo(foreign.id, other.id) });
  await renderLinks(service.db);
  expect(await html(linker.id)).toBe(`${PLAIN}\n${PLAIN}`);
  await stranger.unpublish(foreign.id);
  await editor.unpublish(other.id);
  await renderLinks(service.db);
  expect((await editor.read(linker.id)).updatedAt).toBe(linker.updatedAt);
});

// contract.md R10
it('shows a link that was saved while its target was being published', async () => {
  const own = await service.project(workspace);
  await useTemplate(own, 'https://example.com/{slug}');
  const target = await editor.create(own, { title: 'Target' });
  const linker = await editor.published(own, { title: 'Linker' });
  await editor.submit(target.id);
  await editor.review(target.id, 'approved');
  await renderLinks(service.db);
  // Each sees the article of the other as it was: the one has no address yet, the other no link.
  await service.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('articles')
      .set({ status: 'PUBLISHED' })
      .where('id', '=', target.id as ArticleId)
      .execute();
    await tx
      .insertInto('address_changes')
      .values({ workspace_id: workspace.id, project_id: own, target_id: target.id as ArticleId })
      .execute();
    expect((await editor.patch(linker.id, { documentJson: linkTo(target.id) })).status).toBe(200);
    expect(await html(linker.id)).toBe(PLAIN);
    await renderLinks(service.db);
    expect(await html(linker.id)).toBe(PLAIN);
  });
  await renderLinks(service.db);
  expect(await html(linker.id)).toBe(shown('https://example.com/target'));

  // The other way round: the save is under way when the address has changed, and been looked at.
  const other = await editor.create(own, { title: 'Other' });
  await editor.submit(other.id);
  await editor.review(other.id, 'approved');
  await service.db.transaction().execute(async (tx) => {
    await sql`UPDATE articles SET document = ${JSON.stringify(linkTo(other.id))}::jsonb, content_html = ${PLAIN}
      WHERE id = ${linker.id}`.execute(tx);
    await editor.publish(other.id);
    await renderLinks(service.db);
  });
  await renderLinks(service.db);
  expect(await html(linker.id)).toBe(shown('https://example.com/other'));
});

it('never puts an older body over the one that an editor saves at the same moment', async () => {
  const own = await service.project(workspace);
  await useTemplate(own, 'https://example.com/{slug}');
  const target = await editor.published(own, { title: 'Target' });
  const linker = await editor.published(own, { title: 'Linker', documentJson: linkTo(target.id) });
  await renderLinks(service.db);
  await useTemplate(own, 'https://example.com/new/{slug}');
  let saved: Promise<{ status: number; body: { article: Article } }> | undefined;
  let rendered: Promise<void> | undefined;
  await service.db.transaction().execute(async (tx) => {
    await sql`SELECT FROM articles WHERE id = ${linker.id} FOR UPDATE`.execute(tx);
    const block = { ...linkTo(target.id).blocks[0], text: 'Now see the target there.' };
    rendered = renderLinks(service.db);
    await untilWaiting(service.db, 1);
    saved = editor.patch(linker.id, { documentJson: documentOf(block) });
    await untilWaiting(service.db, 2);
  });
  expect((await saved)?.status).toBe(200);
  await rendered;
  await renderLinks(service.db);
  expect(await html(linker.id)).toBe(
    '<p>Now see <a href="https://example.com/new/target">the target</a> there.</p>',
  );
  // Whoever came first told of the new address, and the editor of the new words.
  expect(await changes(linker.id)).toEqual([['content'], ['content']]);

  // A save that comes before the step tells what it shows anew.
  await useTemplate(own, 'https://example.com/newer/{slug}');
  await editor.patch(linker.id, { metaTitle: 'Meta' });
  await renderLinks(service.db);
  expect((await changes(linker.id)).slice(2)).toEqual([['metaTitle', 'content']]);
});

it('a template of a project with many links is worked off by two workers, one killed in the middle, one event each', async () => {
  const own = await service.project(workspace);
  const target = await editor.published(own, { title: 'Target' });
  const ids: ArticleId[] = [];
  /** How often each was told of. */
  const told = async () => {
    const rows = await service.db
      .selectFrom('events')
      .select('article_id')
      .where('type', '=', 'article.updated')
      .execute();
    return ids.map((id) => rows.filter((row) => row.article_id === id).length);
  };
  for (let made = 0; made < 60; made += 1) {
    const document = linkTo(target.id) as DocumentJson;
    const article = { title: `Linker ${made}`, document, status: 'PUBLISHED' as const };
    ids.push((await createArticle(service.db, workspace, own, article)).id);
  }
  await renderLinks(service.db);
  await useTemplate(own, 'https://example.com/{slug}');

  const killed = spawn(process.execPath, [path.join(import.meta.dirname, 'renderer.ts')], {
    env: { ...process.env, DATABASE_URL: service.config.DATABASE_URL },
    stdio: 'ignore',
  });
  const ended = once(killed, 'exit');
  await eventually(told, (counts) => counts.filter((count) => count === 2).length > 2);
  killed.kill('SIGKILL');
  await ended;
  expect((await stale()).length).toBeGreaterThan(0);
  // Another workspace does not wait for the rest of them.
  const neighbour = await service.workspace();
  const beside = editing(service, neighbour);
  const theirs = await service.project(neighbour);
  const goal = await beside.published(theirs, { title: 'Goal' });
  const { id } = await beside.create(theirs, { documentJson: linkTo(goal.id) });
  await beside.call('PATCH', `/api/projects/${theirs}`, {
    addressTemplate: 'https://beside.example.com/{slug}',
  });
  await Promise.all([renderLinks(service.db), renderLinks(service.db)]);
  expect((await beside.read(id)).contentHtml).toBe(shown('https://beside.example.com/goal'));
  // What the killed one had in hand is due again a minute later.
  expect((await stale()).length).toBeLessThanOrEqual(1);
  await sql`UPDATE stale_renderings SET due_at = now()`.execute(service.db);
  await renderLinks(service.db);

  expect(await left()).toBe(0);
  for (const linker of ids) expect(await html(linker)).toBe(shown('https://example.com/target'));
  // Once when it was first rendered, and once now.
  expect(await told()).toEqual(ids.map(() => 2));
});

it('renders what some changed addresses concern while another can not be listed', async () => {
  const own = await service.project(workspace);
  await useTemplate(own, 'https://example.com/{slug}');
  const pairs: { target: string; linker: string }[] = [];
  for (const title of ['First', 'Second']) {
    const target = await editor.create(own, { title });
    await editor.submit(target.id);
    await editor.review(target.id, 'approved');
    const linker = await editor.create(own, { title: `See ${title}`, documentJson: linkTo(target.id) });
    pairs.push({ target: target.id, linker: linker.id });
  }
  await renderLinks(service.db);
  for (const { target } of pairs) await editor.publish(target);
  const [first, second] = pairs.map(({ linker }) => linker);

  const impatient = createDatabase({
    connectionString: service.config.DATABASE_URL,
    statementTimeout: 1_000,
  });
  const problems: (string | undefined)[] = [];
  await service.db.transaction().execute(async (tx) => {
    // As a save does that is under way: the list waits for it, and for longer than a statement may take.
    await tx
      .insertInto('stale_renderings')
      .values({ article_id: second as ArticleId, workspace_id: workspace.id })
      .execute();
    const onError = (_: unknown, articleId?: string) => problems.push(articleId);
    await renderLinking(impatient, { signal: new AbortController().signal, onError });
    expect(await html(first ?? '')).toBe(shown('https://example.com/first'));
  });
  await impatient.destroy();
  expect(problems).toContain(undefined);
  await renderLinks(service.db);
  expect(await html(second ?? '')).toBe(shown('https://example.com/second'));
  expect(await left()).toBe(0);
});

it('a worker renders them within seconds, by itself', async () => {
  await service.startWorker();
  const own = await service.project(workspace);
  await useTemplate(own, 'https://example.com/{slug}');
  const target = await editor.create(own, { title: 'Target' });
  const linker = await editor.create(own, { documentJson: linkTo(target.id) });
  await editor.submit(target.id);
  await editor.review(target.id, 'approved');
  await editor.publish(target.id);
  await eventually(
    () => html(linker.id),
    (content) => content === shown('https://example.com/target'),
  );
});

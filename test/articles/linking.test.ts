import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { checkLinks } from '../../src/articles/links/check.ts';
import { createDatabase } from '../../src/db/database.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import type { ArticleId, ProjectId } from '../../src/ids.ts';
import { createArticle } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { untilWaiting } from '../translations/support/locks.ts';
import { checkAllLinks, documentOf, type Editing, editing, paragraph } from './support.ts';

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
const reported = async (id: string) =>
  (
    await service.db
      .selectFrom('article_links')
      .select('address')
      .where('article_id', '=', id as ArticleId)
      .execute()
  ).map(({ address }) => address);
const changes = async (id: string) =>
  (await editor.events(id))
    .filter(({ event }) => event === 'article.updated')
    .map(({ data }) => data.changed);
const left = async () => {
  const { rows } = await sql<{ count: number }>`
    SELECT ((SELECT count(*) FROM address_changes) + (SELECT count(*) FROM link_checks))::integer AS count
  `.execute(service.db);
  return rows[0]?.count;
};
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
  let sent = 0;
  for (const [what, move, expected] of moves) {
    const before = await editor.read(linker.id);
    expect((await move()).status, what).toBeLessThan(300);
    const at = await editor.read(linker.id);
    expect(at.contentHtml, what).toBe(expected);
    expect(at.contentMarkdown?.includes(']('), what).toBe(expected !== PLAIN);
    await checkAllLinks(service.db);
    const after = await editor.read(linker.id);
    const isSame = before.contentHtml === expected;
    expect(after, what).toEqual({ ...at, updatedAt: after.updatedAt });
    expect(after.updatedAt === before.updatedAt, what).toBe(isSame);
    if (!isSame) sent += 1;
  }
  expect(await changes(linker.id)).toEqual(Array.from({ length: sent }, () => ['content']));
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
  await checkAllLinks(service.db);
  expect(await html(linker.id)).toBe(`${PLAIN}\n${PLAIN}`);
  await stranger.unpublish(foreign.id);
  await editor.unpublish(other.id);
  await checkAllLinks(service.db);
  expect((await editor.read(linker.id)).updatedAt).toBe(linker.updatedAt);
});

// contract.md R10
it('a save that links and the publication of its target send one event each, whichever comes last', async () => {
  const own = await service.project(workspace);
  await useTemplate(own, 'https://example.com/{slug}');
  const target = await editor.create(own, { title: 'Target' });
  const linker = await editor.published(own, { title: 'Linker' });
  await editor.submit(target.id);
  await editor.review(target.id, 'approved');
  await checkAllLinks(service.db);
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
    await checkAllLinks(service.db);
    expect(await html(linker.id)).toBe(PLAIN);
    expect(await changes(linker.id)).toEqual([['content']]);
  });
  expect(await html(linker.id)).toBe(shown('https://example.com/target'));
  await checkAllLinks(service.db);
  expect(await changes(linker.id)).toEqual([['content'], ['content']]);

  // The other way round: the save is under way when the address has changed, and been looked at.
  const other = await editor.create(own, { title: 'Other' });
  await editor.submit(other.id);
  await editor.review(other.id, 'approved');
  let saved: Promise<{ status: number }> | undefined;
  await service.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE article_slug_redirects IN SHARE MODE`.execute(tx);
    saved = editor.patch(linker.id, { slug: 'linking', documentJson: linkTo(target.id, other.id) });
    await untilWaiting(service.db, 1);
    await editor.publish(other.id);
    await checkAllLinks(service.db);
  });
  expect((await saved)?.status).toBe(200);
  await checkAllLinks(service.db);
  expect(await html(linker.id)).toContain(shown('https://example.com/other'));
  expect((await changes(linker.id)).slice(2)).toEqual([['content', 'slug'], ['content']]);
  await checkAllLinks(service.db);
  expect(await left()).toBe(0);
});

it('saves, publications and renames at once: links are right at any moment, with an event for each change', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('link', 'unlink', 'rename', 'publish', 'unpublish', 'check', 'template'), {
        minLength: 4,
        maxLength: 12,
      }),
      fc.integer({ min: 1, max: 4 }),
      async (moves, atOnce) => {
        const own = await service.project(workspace);
        await useTemplate(own, 'https://example.com/{slug}');
        const target = await editor.create(own, { title: 'Target' });
        const linker = await editor.published(own, { title: 'Linker', documentJson: linkTo(target.id) });
        let [round, before] = [0, { sent: (await changes(linker.id)).length, html: await html(linker.id) }];
        const make: Record<(typeof moves)[number], () => Promise<unknown>> = {
          link: () => editor.patch(linker.id, { documentJson: linkTo(target.id) }),
          unlink: () => editor.patch(linker.id, { documentJson: documentOf(paragraph('No link.')) }),
          rename: () => editor.patch(target.id, { slug: `target-${++round}` }),
          publish: async () => {
            await editor.submit(target.id);
            await editor.review(target.id, 'approved');
            await editor.publish(target.id);
          },
          unpublish: () => editor.unpublish(target.id),
          check: () => checkAllLinks(service.db),
          template: () => useTemplate(own, `https://example.com/${++round}/{slug}`),
        };
        for (let from = 0; from < moves.length; from += atOnce) {
          const together = moves.slice(from, from + atOnce);
          await Promise.all(together.map((move) => make[move]()));
          const { status, slug } = await editor.read(target.id);
          const { addressTemplate } = (await editor.call('GET', `/api/projects/${own}`)).body.project;
          const { documentJson, contentHtml } = await editor.read(linker.id);
          const links = 'links' in (documentJson.blocks[0] ?? {});
          const plain = links ? PLAIN : '<p>No link.</p>';
          const address = addressTemplate.replace('{slug}', slug);
          expect(contentHtml).toBe(links && status === 'PUBLISHED' ? shown(address) : plain);
          // What was reported last is what is shown, and nothing is reported twice.
          await checkAllLinks(service.db);
          const sent = (await changes(linker.id)).length;
          // One for each change that is shown, which each move makes once at most.
          const least = contentHtml === before.html ? 0 : 1;
          const most = together.length === 1 ? least : together.filter((move) => move !== 'check').length;
          expect(sent - before.sent).toBeGreaterThanOrEqual(least);
          expect(sent - before.sent).toBeLessThanOrEqual(most);
          before = { sent, html: contentHtml };
          const { updatedAt } = await editor.read(linker.id);
          await checkAllLinks(service.db);
          expect((await changes(linker.id)).length).toBe(sent);
          expect((await editor.read(linker.id)).updatedAt).toBe(updatedAt);
          expect(await reported(linker.id)).toEqual(links ? [status === 'PUBLISHED' ? address : null] : []);
        }
      },
    ),
    { numRuns: 12 },
  );
});

it('tells articles of one address apart', async () => {
  const own = await service.project(workspace);
  const address = 'https://example.com/shared';
  const [one, two] = [await editor.create(own), await editor.create(own)];
  for (const { id } of [one, two]) {
    await editor.submit(id);
    await editor.review(id, 'approved');
    await editor.publish(id, address);
  }
  const linker = await editor.published(own, { documentJson: linkTo(one.id, two.id) });
  await checkAllLinks(service.db);
  expect(await html(linker.id)).toBe(`${shown(address)}\n${shown(address)}`);
  await editor.unpublish(two.id);
  await checkAllLinks(service.db);
  expect(await html(linker.id)).toBe(`${shown(address)}\n${PLAIN}`);
  expect(await changes(linker.id)).toEqual([['content']]);
});

it('an article with many links is checked without keeping others from being saved', async () => {
  const own = await service.project(workspace);
  const target = await editor.published(own, { title: 'Target' });
  const many = Array.from({ length: 999 }, () => randomUUID());
  const ids: ArticleId[] = [];
  for (const title of ['One', 'Two', 'Three']) {
    const document = linkTo(target.id, ...many) as DocumentJson;
    ids.push((await createArticle(service.db, workspace, own, { title, document, status: 'PUBLISHED' })).id);
  }
  ids.sort();
  await checkAllLinks(service.db);
  await useTemplate(own, 'https://example.com/{slug}');
  let checking: Promise<void> | undefined;
  await service.db.transaction().execute(async (tx) => {
    // The check of the last one waits for this.
    await sql`SELECT FROM article_links WHERE article_id = ${ids[2]} FOR UPDATE`.execute(tx);
    checking = checkAllLinks(service.db);
    await untilWaiting(service.db, 1);
    expect((await editor.patch(ids[0] ?? '', { metaTitle: 'Saved' })).status).toBe(200);
    expect(await changes(ids[0] ?? '')).toEqual([['content'], ['metaTitle']]);
  });
  await checking;
  expect(await changes(ids[2] ?? '')).toEqual([['content']]);
});

it('no save is refused because another article moved', async () => {
  const own = await service.project(workspace);
  await useTemplate(own, 'https://example.com/{slug}');
  const target = await editor.published(own, { title: 'Target' });
  const linker = await editor.published(own, { title: 'Linker', documentJson: linkTo(target.id) });
  const tagOf = async () => {
    const response = await fetch(new URL(`/api/articles/${linker.id}`, service.url), {
      headers: { authorization: `Bearer ${workspace.key}` },
    });
    return response.headers.get('etag') ?? '';
  };
  const before = await tagOf();
  await editor.patch(target.id, { slug: 'goal' });
  const after = await tagOf();
  expect(after).not.toBe(before);
  await checkAllLinks(service.db);
  const checked = await tagOf();
  expect((await editor.patch(linker.id, { metaTitle: 'Meta' }, before)).status).toBe(200);
  // The save itself is another version.
  for (const tag of [before, after, checked]) {
    expect((await editor.patch(linker.id, { metaTitle: 'Other' }, tag)).status).toBe(412);
  }
  expect((await editor.patch(linker.id, { metaTitle: 'Other' }, await tagOf())).status).toBe(200);
});

it('a template of a project with many links is worked off by two workers, one killed in the middle, one event each', async () => {
  const own = await service.project(workspace);
  const target = await editor.published(own, { title: 'Target' });
  const ids: ArticleId[] = [];
  /** How many events each has. */
  const sent = async () => {
    const rows = await service.db
      .selectFrom('events')
      .select('article_id')
      .where('type', '=', 'article.updated')
      .execute();
    const events = Map.groupBy(rows, ({ article_id }) => article_id);
    return ids.map((id) => events.get(id)?.length ?? 0);
  };
  for (let made = 0; made < 350; made += 1) {
    const document = linkTo(target.id) as DocumentJson;
    const article = { title: `Linker ${made}`, document, status: 'PUBLISHED' as const };
    ids.push((await createArticle(service.db, workspace, own, article)).id);
  }
  await checkAllLinks(service.db);
  await useTemplate(own, 'https://example.com/{slug}');

  const killed = spawn(process.execPath, [path.join(import.meta.dirname, 'link-checker.ts')], {
    env: { ...process.env, DATABASE_URL: service.config.DATABASE_URL },
    stdio: 'ignore',
  });
  const ended = once(killed, 'exit');
  await eventually(sent, (counts) => counts.includes(1));
  killed.kill('SIGKILL');
  await ended;
  const listed = await service.db.selectFrom('link_checks').select('article_id').execute();
  expect(listed.length).toBeGreaterThan(0);
  expect(listed.length).toBeLessThan(ids.length);
  // Another workspace does not wait for the rest of them.
  const neighbour = await service.workspace();
  const beside = editing(service, neighbour);
  const theirs = await service.project(neighbour);
  const goal = await beside.published(theirs, { title: 'Goal' });
  const { id } = await beside.create(theirs, { documentJson: linkTo(goal.id) });
  await beside.call('PATCH', `/api/projects/${theirs}`, {
    addressTemplate: 'https://beside.example.com/{slug}',
  });
  await Promise.all([checkAllLinks(service.db), checkAllLinks(service.db)]);
  expect((await beside.read(id)).contentHtml).toBe(shown('https://beside.example.com/goal'));
  expect(await left()).toBe(0);
  for (const linker of [ids[0], ids.at(-1)]) {
    expect(await html(linker ?? '')).toBe(shown('https://example.com/target'));
  }
  expect(await sent()).toEqual(ids.map(() => 1));
});

it('checks what some changed addresses concern while another can not be listed', async () => {
  const own = await service.project(workspace);
  await useTemplate(own, 'https://example.com/{slug}');
  const pairs: { target: string; linker: string }[] = [];
  for (const title of ['First', 'Second']) {
    const target = await editor.create(own, { title });
    await editor.submit(target.id);
    await editor.review(target.id, 'approved');
    const linker = await editor.published(own, { title: `See ${title}`, documentJson: linkTo(target.id) });
    pairs.push({ target: target.id, linker: linker.id });
  }
  await checkAllLinks(service.db);
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
      .insertInto('link_checks')
      .values({ article_id: second as ArticleId, workspace_id: workspace.id })
      .execute();
    const onError = (_: unknown, workspaceId?: string) => problems.push(workspaceId);
    await checkLinks(impatient, { signal: new AbortController().signal, onError });
    expect([await reported(first ?? ''), await reported(second ?? '')]).toEqual([
      ['https://example.com/first'],
      [null],
    ]);
  });
  await impatient.destroy();
  expect(problems).toContain(undefined);
  await checkAllLinks(service.db);
  expect(await changes(second ?? '')).toEqual([['content']]);
  expect(await left()).toBe(0);
});

it('a worker checks them within seconds, by itself', async () => {
  await service.startWorker();
  const own = await service.project(workspace);
  await useTemplate(own, 'https://example.com/{slug}');
  const target = await editor.create(own, { title: 'Target' });
  const linker = await editor.published(own, { documentJson: linkTo(target.id) });
  await editor.submit(target.id);
  await editor.review(target.id, 'approved');
  await editor.publish(target.id);
  await eventually(
    () => changes(linker.id),
    (sent) => sent.length === 1,
  );
});

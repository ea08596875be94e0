/**
 * What links cost: a rename and a publication of an article that 10,000 others link to, beside those of an article that no
 * other links to; and a read of an article with 1,000 links, beside the same article with its addresses stored in the
 * rendering, and 5 ms. More than 1.2 times, or more than 5 ms, ends the run with status 1.
 *
 * Environment: BENCH_ROUNDS (5), BENCH_ARTICLES (10000).
 */
import { performance } from 'node:perf_hooks';
import { sql } from 'kysely';
import { median, print, setting } from '../../soak/support/report.ts';
import { checkLinks } from '../../src/articles/links/check.ts';
import { publishArticle } from '../../src/articles/publish.ts';
import { readArticle } from '../../src/articles/read.ts';
import { updateArticle } from '../../src/articles/update.ts';
import type { VerbContext } from '../../src/context.ts';
import type { Database } from '../../src/db/database.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import type { ArticleId, ProjectId, WorkspaceId } from '../../src/ids.ts';
import { createProject } from '../../src/projects/create.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { createArticle } from '../../test/support/articles.ts';
import { withBenchDatabase } from '../lib/database.ts';
import { alternate, type Comparison, report } from '../lib/suite.ts';

const ROUNDS = setting('BENCH_ROUNDS', 5);
const LINKERS = setting('BENCH_ARTICLES', 10_000);
const LINKS = 1_000;
const PROMISED = 1.2;
const MORE_MS = 5;
/** Calls that one measurement is the median of. */
const CALLS = 40;

/** 50 blocks of 20 words each, every word a link. */
const documentOf = (targets: readonly string[]): DocumentJson => ({
  version: 1,
  blocks: Array.from({ length: LINKS / 20 }, (_, block) => {
    const words = Array.from({ length: 20 }, (_word, word) => `word${block * 20 + word}w`);
    const links = words.map((text, word) => ({ text, articleId: targets[block * 20 + word] ?? '' }));
    return { id: `b${block}`, type: 'paragraph' as const, text: words.join(' '), links };
  }),
});

/** Copies of one article that links to the target. */
async function storeLinkers(db: Database, workspaceId: WorkspaceId, projectId: ProjectId, target: ArticleId) {
  const text = 'See there.';
  const links = [{ text: 'there', articleId: target }];
  const document: DocumentJson = { version: 1, blocks: [{ id: 'p', type: 'paragraph', text, links }] };
  const { id } = await createArticle(db, { id: workspaceId }, projectId, { document, status: 'PUBLISHED' });
  await sql`
    INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, content_html, content_markdown,
      content_places, rendered_by, primary_language, translation_group_id)
    SELECT gen_random_uuid(), workspace_id, project_id, title, 'linker-' || n, status, document, content_html,
      content_markdown, content_places, rendered_by, primary_language, gen_random_uuid()
    FROM articles CROSS JOIN generate_series(2, ${LINKERS}::integer) AS n WHERE id = ${id}`.execute(db);
  await sql`
    INSERT INTO article_links (workspace_id, project_id, article_id, target_id)
    SELECT workspace_id, project_id, id, ${target} FROM articles WHERE slug LIKE 'linker-%'
    ON CONFLICT DO NOTHING`.execute(db);
  await sql`VACUUM ANALYZE articles, article_links`.execute(db);
}

async function timeOf(calls: number, call: (index: number) => Promise<() => Promise<unknown>>) {
  const times: number[] = [];
  for (let index = 0; index < calls; index += 1) {
    const work = await call(index);
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

async function run(db: Database): Promise<void> {
  print(`${LINKERS} articles that link to one, and one with ${LINKS} links`);
  const { workspaceId } = await createWorkspace(db, { name: 'Bench', credits: 0 });
  const context: VerbContext = { db, actor: { kind: 'operator', workspaceId }, requestId: 'bench' };
  const projectId = await createProject(context, {
    name: 'Linked',
    languages: ['en'],
    primaryLanguage: 'en',
    addressTemplate: 'https://example.com/{slug}',
  });
  const create = (document?: DocumentJson) =>
    createArticle(db, { id: workspaceId }, projectId, {
      status: 'PUBLISHED',
      ...(document === undefined ? {} : { document }),
    });
  const [popular, alone] = [await create(), await create()];
  await storeLinkers(db, workspaceId, projectId, popular.id);

  let turn = 0;
  const rename = ({ id }: { id: ArticleId }) =>
    timeOf(CALLS, async () => () => updateArticle(context, id, { slug: `slug-${++turn}` }));
  const publish = ({ id }: { id: ArticleId }) =>
    timeOf(CALLS, async () => {
      await db.updateTable('articles').set({ status: 'APPROVED' }).where('id', '=', id).execute();
      return () => publishArticle(context, id);
    });
  const comparisons: Comparison[] = [];
  for (const [name, measure] of [
    ['rename', rename],
    ['publication', publish],
  ] as const) {
    print(name);
    const times = await alternate(ROUNDS, { ours: () => measure(popular), bare: () => measure(alone) });
    comparisons.push({
      name: `${name} of an article that ${LINKERS} link to, and none, ms`,
      higherIsBetter: false,
      ...times,
      promised: PROMISED,
    });
  }

  print('read');
  const targets: string[] = [];
  for (let made = 0; made < LINKS; made += 1) targets.push((await create()).id);
  const [linked, stored] = [await create(documentOf(targets)), await create(documentOf(targets))];
  const { article } = await readArticle(context, linked.id);
  await db
    .updateTable('articles')
    .set({
      content_html: article.contentHtml,
      content_markdown: article.contentMarkdown,
      content_places: null,
    })
    .where('id', '=', stored.id)
    .execute();
  await sql`VACUUM ANALYZE articles, article_links`.execute(db);
  const read = ({ id }: { id: ArticleId }) => timeOf(CALLS, async () => () => readArticle(context, id));
  // A server has read more articles than a bench, and is faster for it.
  for (let round = 0; round < ROUNDS; round += 1) await read(linked);
  const times = await alternate(ROUNDS, { ours: () => read(linked), bare: () => read(stored) });
  comparisons.push({
    name: `read with ${LINKS} links, and with stored addresses and ${MORE_MS} ms, ms`,
    higherIsBetter: false,
    ours: times.ours,
    bare: times.bare.map((time) => time + MORE_MS),
    promised: 1,
  });

  const startedAt = performance.now();
  await checkLinks(db, {
    signal: new AbortController().signal,
    onError: (error) => {
      throw error;
    },
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  report('links', comparisons, [
    { name: `checking ${LINKERS} articles that link to one that moved, s`, values: [seconds] },
    { name: `read with ${LINKS} stored addresses, ms`, values: times.bare },
  ]);
}

await withBenchDatabase(run);

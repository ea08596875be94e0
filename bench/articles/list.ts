/**
 * The list of 100,000 articles, read page by page: what page 1,000 costs beside page 1, for every filter, among as
 * many articles again that the filters leave out. Both are read in turns on the same Postgres; a page that costs
 * more than 1.5 times the first one ends the run with status 1.
 *
 * Environment: BENCH_ROUNDS (5), BENCH_ARTICLES (100000).
 */
import { performance } from 'node:perf_hooks';
import { sql } from 'kysely';
import { median, print, setting } from '../../soak/support/report.ts';
import { type ArticleFilter, listArticles } from '../../src/articles/list.ts';
import { createCategory } from '../../src/categories/create.ts';
import type { VerbContext } from '../../src/context.ts';
import type { Database } from '../../src/db/database.ts';
import type { Position } from '../../src/http/paging.ts';
import type { ArticleId, CategoryId, ProjectId } from '../../src/ids.ts';
import { createProject } from '../../src/projects/create.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { withBenchDatabase } from '../lib/database.ts';
import { alternate, type Comparison, report } from '../lib/suite.ts';

const ROUNDS = setting('BENCH_ROUNDS', 5);
const ARTICLES = setting('BENCH_ARTICLES', 100_000);
const LIMIT = 100;
const PROMISED = 1.5;
/** Reads of one page per measurement. */
const READS = 40;

interface Seeded {
  readonly context: VerbContext;
  readonly projectId: ProjectId;
  readonly categoryId: CategoryId;
}

/** Stores articles that match every filter, alternating with as many that do not. */
async function seed(db: Database): Promise<Seeded> {
  const { workspaceId } = await createWorkspace(db, { name: 'Bench', credits: 0 });
  const context: VerbContext = { db, actor: { kind: 'operator', workspaceId }, requestId: 'bench' };
  const project = { languages: ['en', 'es'], primaryLanguage: 'en' };
  const projectId = await createProject(context, { name: 'Listed', ...project });
  const otherId = await createProject(context, { name: 'Other', ...project });
  const { id } = await createCategory(context, {
    primaryLanguage: 'en',
    translations: [{ language: 'en', name: 'Listed' }],
  });
  for (const [target, status, language] of [
    [projectId, 'PUBLISHED', 'en'],
    [otherId, 'DRAFT', 'es'],
  ] as const) {
    await sql`
      INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
        translation_group_id, created_at)
      SELECT gen_random_uuid(), ${workspaceId}, ${target}, 'What to plant in week ' || n, 'plant-' || n, ${status},
        '{"version":1,"blocks":[]}', ${language}, gen_random_uuid(), now() - n * interval '1 second'
      FROM generate_series(1, ${ARTICLES}::integer) AS n`.execute(db);
  }
  await sql`
    INSERT INTO article_categories (workspace_id, article_id, category_id, position)
    SELECT workspace_id, id, ${id}, 0 FROM articles WHERE project_id = ${projectId}`.execute(db);
  await sql`VACUUM ANALYZE articles, article_categories`.execute(db);
  return { context, projectId, categoryId: id as CategoryId };
}

/** The position at which the last full page begins. */
async function lastPage({ context, projectId }: Seeded, all: boolean): Promise<Position<ArticleId>> {
  const row = await context.db
    .selectFrom('articles')
    .select(['created_at', 'id'])
    .where('workspace_id', '=', context.actor.workspaceId)
    .$if(!all, (query) => query.where('project_id', '=', projectId))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(ARTICLES - LIMIT - 1)
    .limit(1)
    .executeTakeFirstOrThrow();
  return { at: row.created_at, id: row.id };
}

/** Median time of several reads of one page, in milliseconds. */
const readPage =
  ({ context }: Seeded, filter: ArticleFilter, position: Position<ArticleId> | null) =>
  async (): Promise<number> => {
    const times: number[] = [];
    for (let read = 0; read < READS; read += 1) {
      const startedAt = performance.now();
      const { articles } = await listArticles(context, { ...filter, limit: LIMIT, position });
      times.push(performance.now() - startedAt);
      if (articles.length !== LIMIT) throw new Error(`a page of ${articles.length} articles`);
    }
    return median(times);
  };

async function run(db: Database): Promise<void> {
  print(`${ARTICLES} articles to list, as many that are left out`);
  const seeded = await seed(db);
  const { projectId, categoryId } = seeded;
  const filters: Record<string, ArticleFilter> = {
    'no filter': {},
    project: { projectId },
    status: { status: 'PUBLISHED' },
    language: { language: 'en' },
    category: { categoryId },
    'project, status and language': { projectId, status: 'PUBLISHED', language: 'en' },
    'all four': { projectId, status: 'PUBLISHED', language: 'en', categoryId },
  };
  const comparisons: Comparison[] = [];
  for (const [name, filter] of Object.entries(filters)) {
    print(name);
    const position = await lastPage(seeded, name === 'no filter');
    const { ours, bare } = await alternate(ROUNDS, {
      ours: readPage(seeded, filter, position),
      bare: readPage(seeded, filter, null),
    });
    comparisons.push({
      name: `list by ${name}: page ${ARTICLES / LIMIT} and page 1, ms`,
      higherIsBetter: false,
      ours,
      bare,
      promised: PROMISED,
    });
  }
  report('articles', comparisons);
}

await withBenchDatabase(run);

/** Reads the data of a question from the current rows. */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { ArticleId, CategoryId, ProjectId, WorkspaceId } from '../ids.ts';
import { doTask } from '../threads/pool.ts';
import { onBehalfOf } from '../threads/share.ts';
import type { ArticleQuestion, NamesQuestion, ProjectQuestion, Question } from './model-questions.ts';
import type { OpenOperation } from './operations.ts';
import type { FindTaken } from './responses.ts';

/** Bounds on the data sent to a model. */
const MAX_TEXT = 6_000;
const MAX_CANDIDATES = 300;
const MAX_TITLES = 200;
/** The newest articles, from which titles are chosen. */
const MAX_LOOKED_AT = 2_000;
const MAX_KEYWORDS = 200;
const MAX_IDEAS = 100;
const MAX_TAKEN = 500;

/** The question of an operation; null when its target is deleted or has no content to use. */
export function readQuestion(
  db: Database,
  { kind, workspaceId, targetId, languages }: OpenOperation,
): Promise<Question | null> {
  switch (kind) {
    case 'article_categories':
      return readArticleQuestion(db, workspaceId, targetId as ArticleId);
    case 'project_categories':
      return readProjectQuestion(db, workspaceId, targetId as ProjectId);
    case 'category_names':
      return readNamesQuestion(db, workspaceId, targetId as CategoryId, languages);
  }
}

async function readArticleQuestion(
  db: Database,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
): Promise<ArticleQuestion | null> {
  const article = await db
    .selectFrom('articles')
    .select([
      'title',
      'primary_language',
      'target_keywords',
      'secondary_keywords',
      sql<string>`document::text`.as('document'),
    ])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', articleId)
    .executeTakeFirst();
  if (article === undefined) return null;
  const named = await db
    .selectFrom('category_names as name')
    .leftJoin('article_categories as link', (join) =>
      join.onRef('link.category_id', '=', 'name.category_id').on('link.article_id', '=', articleId),
    )
    .innerJoin('categories as category', 'category.id', 'name.category_id')
    .select(['name.category_id as id', 'name.name', 'name.language', 'link.position'])
    .where('name.workspace_id', '=', workspaceId)
    // Each category by its name in the article's language, or else by its main name.
    .where(
      sql<boolean>`(name.language = ${article.primary_language} OR (name.language = category.primary_language
        AND NOT EXISTS (SELECT FROM category_names AS own
          WHERE own.category_id = name.category_id AND own.language = ${article.primary_language})))`,
    )
    // The most used categories first, in case there are too many.
    .orderBy(
      (eb) =>
        eb
          .selectFrom('article_categories')
          .select((inner) => inner.fn.countAll().as('uses'))
          .whereRef('article_categories.category_id', '=', 'name.category_id'),
      'desc',
    )
    .orderBy('name.created_at')
    .orderBy('name.id')
    .execute();
  const carried = named.filter(({ position }) => position !== null);
  const free = named.filter(({ position }) => position === null);
  const isOwn = ({ language }: { language: string }): boolean => language === article.primary_language;
  return {
    kind: 'article_categories',
    language: article.primary_language,
    title: article.title,
    keywords: [...article.target_keywords, ...article.secondary_keywords].slice(0, MAX_KEYWORDS),
    text: await onBehalfOf(workspaceId, () => doTask('excerpt', article.document, MAX_TEXT)),
    candidates: free
      .filter(isOwn)
      .slice(0, MAX_CANDIDATES)
      .map(({ id, name }) => ({ id, name })),
    carried: carried.map(({ name }) => name),
    elsewhere: free
      .filter((category) => !isOwn(category))
      .slice(0, MAX_CANDIDATES)
      .map(({ name }) => name),
  };
}

async function readProjectQuestion(
  db: Database,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
): Promise<ProjectQuestion | null> {
  const project = await db
    .selectFrom('projects')
    .select('primary_language')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (project === undefined) return null;
  const newest = db
    .selectFrom('articles')
    .select(['id', 'title', 'target_keywords', 'primary_language', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .where('project_id', '=', projectId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_LOOKED_AT)
    .as('newest');
  const articles = await db
    .selectFrom(newest)
    .select(['title', 'target_keywords'])
    // Articles in the project's language first.
    .orderBy((eb) => eb('primary_language', '=', project.primary_language), 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_TITLES)
    .execute();
  const ideas = await db
    .selectFrom('idea_clusters')
    .select(['title', 'keywords'])
    .where('workspace_id', '=', workspaceId)
    .where('project_id', '=', projectId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(MAX_IDEAS)
    .execute();
  if (articles.length === 0 && ideas.length === 0) return null;
  // Both queries follow an index: names in the project's language first.
  const names = db
    .selectFrom('category_names')
    .select('name')
    .where('workspace_id', '=', workspaceId)
    .orderBy('language')
    .orderBy('name_key');
  const taken = await names.where('language', '=', project.primary_language).limit(MAX_TAKEN).execute();
  if (taken.length < MAX_TAKEN) {
    const others = names.where('language', '<>', project.primary_language).limit(MAX_TAKEN - taken.length);
    taken.push(...(await others.execute()));
  }
  return {
    kind: 'project_categories',
    language: project.primary_language,
    titles: articles.map(({ title }) => title),
    keywords: [...new Set(articles.flatMap((article) => article.target_keywords))].slice(0, MAX_KEYWORDS),
    ideas,
    taken: [...new Set(taken.map(({ name }) => name))],
  };
}

async function readNamesQuestion(
  db: Database,
  workspaceId: WorkspaceId,
  categoryId: CategoryId,
  targets: readonly string[],
): Promise<NamesQuestion | null> {
  const primary = await db
    .selectFrom('categories as category')
    .innerJoin('category_names as name', (join) =>
      join
        .onRef('name.category_id', '=', 'category.id')
        .onRef('name.language', '=', 'category.primary_language'),
    )
    .select(['name.name', 'name.language'])
    .where('category.workspace_id', '=', workspaceId)
    .where('category.id', '=', categoryId)
    .executeTakeFirst();
  return primary === undefined ? null : { kind: 'category_names', ...primary, targets };
}

/** Looks up name keys among all categories of the workspace, in any language. */
export const findTakenNames =
  (db: Database, workspaceId: WorkspaceId): FindTaken =>
  async (keys) => {
    const rows = await db
      .selectFrom('category_names')
      .select('name_key')
      .where('workspace_id', '=', workspaceId)
      .where(sql<boolean>`name_key = ANY (${[...keys]}::text[])`)
      .execute();
    return new Set(rows.map((row) => row.name_key));
  };

import type { Insertable } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { ArticleId, ProjectId } from '../ids.ts';
import { type ArticleRow, articleColumns } from './queries.ts';
import { freeSlug, slugify } from './slug.ts';

/** The slugs of a project and language that `base` could clash with. */
async function takenSlugs(
  tx: Tx,
  scope: { projectId: ProjectId; language: string; except?: ArticleId },
  base: string,
): Promise<Set<string>> {
  const rows = await tx
    .selectFrom('articles')
    .select('slug')
    .where('project_id', '=', scope.projectId)
    .where('primary_language', '=', scope.language)
    .where('slug', 'like', `${base.slice(0, 100)}%`)
    .$if(scope.except !== undefined, (query) => query.where('id', '!=', scope.except ?? ('' as ArticleId)))
    .execute();
  return new Set(rows.map((row) => row.slug));
}

/** A slug for the title that no other article of the project and language has as of now. */
export async function chooseSlug(
  tx: Tx,
  scope: { projectId: ProjectId; language: string; except?: ArticleId },
  title: string,
): Promise<string> {
  const base = slugify(title, 'article');
  return freeSlug(base, await takenSlugs(tx, scope, base));
}

/**
 * Inserts an article under the first free slug of its title. Another transaction that takes the same slug
 * at the same moment is waited for, and the next number is tried.
 * @throws the unique violation of (translation group, language) as Postgres reports it
 */
export async function insertArticle(
  tx: Tx,
  article: Omit<Insertable<Tables['articles']>, 'slug'>,
): Promise<ArticleRow> {
  for (;;) {
    const slug = await chooseSlug(
      tx,
      { projectId: article.project_id, language: article.primary_language },
      article.title,
    );
    const row = await tx
      .insertInto('articles')
      .values({ ...article, slug })
      .onConflict((on) => on.constraint('articles_slug_key').doNothing())
      .returning(articleColumns)
      .executeTakeFirst();
    if (row !== undefined) return row;
  }
}

import type { Tx } from '../db/database.ts';
import type { ArticleRow } from './queries.ts';

type Slugged = Pick<ArticleRow, 'id' | 'workspace_id' | 'project_id' | 'primary_language' | 'slug'>;

/** Redirects per article; a further one replaces the oldest. */
const MAX_REDIRECTS = 1_000;

/** Stores the earlier slug of a published article as a redirect, in place of the oldest of a thousand (contract.md R17). */
export async function keepRedirect(tx: Tx, article: Slugged): Promise<void> {
  await tx
    .with('dropped', (db) =>
      db
        .deleteFrom('article_slug_redirects')
        .where('slug', 'in', (eb) =>
          eb
            .selectFrom('article_slug_redirects')
            .select('slug')
            .where('article_id', '=', article.id)
            .where('slug', '!=', article.slug)
            .orderBy('created_at', 'desc')
            .orderBy('slug')
            .offset(MAX_REDIRECTS - 1),
        )
        .where('article_id', '=', article.id),
    )
    .insertInto('article_slug_redirects')
    .values({
      project_id: article.project_id,
      language: article.primary_language,
      slug: article.slug,
      workspace_id: article.workspace_id,
      article_id: article.id,
    })
    .onConflict((on) =>
      on.columns(['project_id', 'language', 'slug']).doUpdateSet({ article_id: article.id }),
    )
    .execute();
}

/** Ends a redirect from a slug that an article takes. */
export async function endRedirect(
  tx: Tx,
  article: Pick<Slugged, 'project_id' | 'primary_language' | 'slug'>,
): Promise<void> {
  await tx
    .deleteFrom('article_slug_redirects')
    .where('project_id', '=', article.project_id)
    .where('language', '=', article.primary_language)
    .where('slug', '=', article.slug)
    .execute();
}

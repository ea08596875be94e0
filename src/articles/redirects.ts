import type { Tx } from '../db/database.ts';
import type { ArticleRow } from './queries.ts';

type Slugged = Pick<ArticleRow, 'id' | 'workspace_id' | 'project_id' | 'primary_language' | 'slug'>;

/** Stores the earlier slug of a published article as a redirect. */
export async function keepRedirect(tx: Tx, article: Slugged): Promise<void> {
  await tx
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

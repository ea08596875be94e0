import type { z } from 'zod';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import type { ArticleId } from '../ids.ts';
import { requireMatch } from './etag.ts';
import type { updateArticleBody } from './input-schemas.ts';
import { isSlugTaken, retryingSlug, slugTaken } from './insert.ts';
import { lockArticle } from './lock.ts';
import { withCurrentRendering } from './rendering.ts';
import { type SavedChanges, saveArticle } from './save.ts';
import { type ShownArticle, showArticle } from './show.ts';

/** What an editor may change; an omitted field stays as it is, null clears a meta field. */
export type ArticleChanges = z.output<typeof updateArticleBody> & Pick<SavedChanges, 'restores'>;

/**
 * Saves an article (articles.update): dead links are dropped, words counted, the body is rendered. A PUBLISHED
 * article that changed emits article.updated with exactly the fields that did, and keeps its old slug as a
 * redirect. A save that changes nothing writes and emits nothing.
 *
 * The slug follows the title as long as it is the title's own; one chosen by hand stays.
 * @param ifMatch the If-Match header: the version the change is based on
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running` or `slug_taken`; PRECONDITION_FAILED;
 *   INVALID_REQUEST for the hero in the body; SERVICE_UNAVAILABLE as `withCurrentRendering` and `retryingSlug`
 */
export async function updateArticle(
  context: VerbContext,
  articleId: ArticleId,
  { documentJson: body, ...changes }: ArticleChanges,
  ifMatch?: string,
): Promise<ShownArticle> {
  requirePermissions(context.actor, 'articles.update');
  const attempt = () =>
    withCurrentRendering(context.db, context, () =>
      inTransaction(context.db, async (tx) => {
        const before = await lockArticle(tx, context.actor.workspaceId, articleId, 'edit');
        requireMatch(ifMatch, before);
        return showArticle(tx, await saveArticle(tx, context, before, { ...changes, body }));
      }),
    );
  const { slug } = changes;
  if (slug === undefined) return retryingSlug(attempt);
  return attempt().catch((error: unknown) => {
    throw isSlugTaken(error) ? slugTaken(slug) : error;
  });
}

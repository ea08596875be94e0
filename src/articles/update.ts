import type { z } from 'zod';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import type { ArticleId } from '../ids.ts';
import { requireMatch } from './etag.ts';
import type { updateArticleBody } from './input-schemas.ts';
import { isSlugTaken, retryingSlug, slugTaken } from './insert.ts';
import { lockArticle } from './lock.ts';
import { prepareBody, withRenderings } from './prepare.ts';
import type { Renderer } from './render.ts';
import { type SavedChanges, saveArticle } from './save.ts';
import { type ArticleResponse, toArticle } from './schemas.ts';

/** What an editor may change; an omitted field stays as it is, null clears a meta field. */
export type ArticleChanges = z.output<typeof updateArticleBody> & Pick<SavedChanges, 'restores'>;

/**
 * Saves an article (articles.update): dead links are dropped, words counted, the body rendered. A PUBLISHED
 * article that changed emits article.updated with exactly the fields that did, and keeps its old slug as a
 * redirect. A save that changes nothing writes and emits nothing.
 *
 * The slug follows the title as long as it is the title's own; one chosen by hand stays.
 * @param ifMatch the If-Match header: the version the change is based on
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running` or `slug_taken`; PRECONDITION_FAILED;
 *   INVALID_REQUEST for the hero in the body; SERVICE_UNAVAILABLE as `withRenderings` and `retryingSlug`
 */
export async function updateArticle(
  context: VerbContext,
  articleId: ArticleId,
  changes: ArticleChanges,
  ifMatch?: string,
): Promise<ArticleResponse> {
  requirePermissions(context.actor, 'articles.update');
  const prepared = await prepareBody(context.db, context, articleId, changes.documentJson);
  const attempt = () =>
    withRenderings(
      context.db,
      (tx, render) => save(tx, context, render, articleId, changes, ifMatch),
      prepared,
    );
  const { slug } = changes;
  if (slug === undefined) return retryingSlug(attempt);
  return attempt().catch((error: unknown) => {
    throw isSlugTaken(error) ? slugTaken(slug) : error;
  });
}

async function save(
  tx: Tx,
  context: VerbContext,
  render: Renderer,
  articleId: ArticleId,
  { documentJson, ...changes }: ArticleChanges,
  ifMatch: string | undefined,
): Promise<ArticleResponse> {
  const before = await lockArticle(tx, context.actor.workspaceId, articleId, 'edit');
  requireMatch(ifMatch, toArticle(before));
  return toArticle(
    await saveArticle(tx, context, render, before, { ...changes, body: documentJson?.stored }),
  );
}

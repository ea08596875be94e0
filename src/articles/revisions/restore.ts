import { requirePermissions, type VerbContext } from '../../context.ts';
import { invalid } from '../../errors.ts';
import type { ArticleId, AssetId, RevisionId } from '../../ids.ts';
import { doTask } from '../../threads/pool.ts';
import type { ShownArticle } from '../show.ts';
import { updateArticle } from '../update.ts';
import { findRevision } from './read.ts';

/**
 * Saves a revision's content as the article's (articles.update). The replaced content is always stored as a revision. The
 * slug follows the title as in any save; status, images and categories stay. Deleted images do not come back.
 * @param ifMatch the If-Match header
 * @returns the article, and the missing images of its body
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`; PRECONDITION_FAILED; INVALID_REQUEST when the body
 *   breaks a newer rule of the format, or shows what is now the article's hero
 */
export async function restoreRevision(
  context: VerbContext,
  articleId: ArticleId,
  revisionId: RevisionId,
  ifMatch?: string,
): Promise<{ restored: ShownArticle; missingImages: string[] }> {
  requirePermissions(context.actor, 'articles.update');
  const { title, metaTitle, metaDescription, targetKeywords, secondaryKeywords, document } =
    await findRevision(context, articleId, revisionId);
  const documentJson = await doTask('check', document, 'stored');
  if (!documentJson.ok) {
    const [issue] = documentJson.issues;
    throw invalid(`/documentJson${issue?.pointer ?? ''}`, issue?.message ?? 'does not match the format');
  }
  const changes = { title, metaTitle, metaDescription, targetKeywords, secondaryKeywords, documentJson };
  const restored = await updateArticle(context, articleId, { ...changes, restores: revisionId }, ifMatch);
  const shown = new Set(documentJson.stored.images.map(({ assetId }) => assetId));
  return { restored, missingImages: await missingAmong(context, articleId, [...shown]) };
}

/** The images that the article does not have. */
async function missingAmong({ db }: VerbContext, articleId: ArticleId, shown: string[]): Promise<string[]> {
  if (shown.length === 0) return [];
  const present = await db
    .selectFrom('assets')
    .select('id')
    .where('article_id', '=', articleId)
    .where('id', 'in', shown as AssetId[])
    .execute();
  const ids = new Set<string>(present.map(({ id }) => id));
  return shown.filter((id) => !ids.has(id));
}

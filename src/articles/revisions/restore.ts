import { requirePermissions, type VerbContext } from '../../context.ts';
import { invalid } from '../../errors.ts';
import type { ArticleId, AssetId, RevisionId } from '../../ids.ts';
import { doTask } from '../../threads/pool.ts';
import type { ShownArticle } from '../show.ts';
import { updateArticle } from '../update.ts';
import { findRevision } from './read.ts';

/**
 * Saves what a revision holds as the article's content (articles.update): a save like any other, but for what it
 * replaces, which is kept even when the same author wrote it a moment ago. The slug follows the title as in any save,
 * and status, images and categories stay. Images that were deleted meanwhile don't come back.
 * @param ifMatch as a save has it
 * @returns the article, and which images its body shows in vain
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`; PRECONDITION_FAILED; INVALID_REQUEST when the body
 *   breaks a rule that is younger than it is, or shows what is the article's hero by now
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

/** Those of the images that the article does not have. */
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

import { sql } from 'kysely';
import { requireMatch } from '../../articles/etag.ts';
import { checkLinksOf } from '../../articles/links/store.ts';
import { lockArticle, ownedByJob, whereAllowed } from '../../articles/lock.ts';
import { articleChanged, articleColumns } from '../../articles/queries.ts';
import { type ShownArticle, showArticle } from '../../articles/show.ts';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import { conflict } from '../../errors.ts';
import { type ArticleId, newId, type TranslationGroupId } from '../../ids.ts';
import { dropProvenance } from '../provenance.ts';
import { sourceIdOf } from '../refresh/tag.ts';
import { failing, isAttached, isNoSource, isNotRefreshed, refreshRunning } from './guards.ts';

/** What a translation wrote links to articles of its own language, in whatever group it is. */
const isTranslated = sql<boolean>`EXISTS (
  SELECT FROM jobs WHERE jobs.article_id = articles.id AND jobs.purpose = 'translate' AND jobs.status = 'COMPLETED')`;

/**
 * Gives a version a group of its own (articles.update; contract.md T72). Its provenance and proposals go; its text, slug,
 * categories, status and style sheet stay, and no event is sent. An article that is alone and has no provenance stays as
 * it is.
 * @param ifMatch the If-Match header: the version of the article that was read
 * @throws {ServiceError} RESOURCE_NOT_FOUND; PRECONDITION_FAILED; CONFLICT `job_running`, `status`, `refresh_running` or
 *   `has_versions`
 */
export async function detachTranslation(
  context: VerbContext,
  articleId: ArticleId,
  ifMatch: string | undefined,
): Promise<ShownArticle> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.update');
  const { workspaceId } = actor;
  return inTransaction(db, async (tx) => {
    const before = await lockArticle(tx, workspaceId, articleId, 'detach');
    requireMatch(ifMatch, before);
    const sourceId = await sourceIdOf(tx, { workspaceId, articleId });
    const after = await tx
      .updateTable('articles')
      .set({
        translation_group_id: newId<TranslationGroupId>(),
        is_translation: isTranslated,
        ...articleChanged,
      })
      .where('id', '=', articleId)
      .where(whereAllowed('detach'))
      .where(isAttached)
      .where(isNoSource)
      .where(isNotRefreshed)
      .returning(articleColumns)
      .executeTakeFirst();
    if (after === undefined) {
      const refused = await failing(tx, articleId, { isAttached, isNoSource, isNotRefreshed });
      if (refused.has('isNotRefreshed')) throw refreshRunning();
      if (refused.has('isNoSource')) {
        throw conflict('Versions were translated from this article. Detach these instead.', 'has_versions');
      }
      if (!refused.has('isAttached')) throw ownedByJob();
      return showArticle(tx, before);
    }
    await dropProvenance(tx, articleId);
    await checkLinksOf(tx, context, articleId);
    await recordAudit(tx, context, {
      action: 'translations.detached',
      targetType: 'article',
      targetId: articleId,
      details: { sourceArticleId: sourceId, translationGroupId: before.translation_group_id },
    });
    return showArticle(tx, after);
  });
}

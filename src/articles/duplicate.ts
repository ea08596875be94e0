import { recordAudit } from '../audit/record.ts';
import { copyCategories } from '../categories/copy.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { reserveBytes, storageQuotaExceeded } from '../credits/storage-quota.ts';
import { createdInOrder } from '../db/created-in-order.ts';
import type { Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { doTask } from '../document/threads/pool.ts';
import { notFound } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import { type ArticleId, type AssetId, newId, type TranslationGroupId, type WorkspaceId } from '../ids.ts';
import { writtenNow } from './content.ts';
import { insertArticle } from './insert.ts';
import { type ArticleRow, articleColumns } from './queries.ts';
import { renderArticle } from './render.ts';
import { type AnsweredArticle, toArticle } from './schemas.ts';

/**
 * Makes a DRAFT with the article's language, content, images and categories, in a translation group of its
 * own (articles.create and articles.read). Emits article.created.
 * @param title of the copy; the article's own when left out
 * @throws {ServiceError} RESOURCE_NOT_FOUND; QUOTA_EXCEEDED when the copied images do not fit
 */
export async function duplicateArticle(
  context: VerbContext,
  articleId: ArticleId,
  title?: string,
): Promise<AnsweredArticle> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.create', 'articles.read');
  const { workspaceId } = actor;
  return inTransaction(db, async (tx) => {
    const source = await readForCopy(tx, workspaceId, articleId);
    const id = newId<ArticleId>();
    const copied = await insertArticle(tx, {
      id,
      workspace_id: workspaceId,
      project_id: source.project_id,
      title: title ?? source.title,
      status: 'DRAFT',
      document: source.document,
      meta_title: source.meta_title,
      meta_description: source.meta_description,
      target_keywords: source.target_keywords,
      secondary_keywords: source.secondary_keywords,
      primary_language: source.primary_language,
      translation_group_id: newId<TranslationGroupId>(),
    });
    const { assetIds, bytes } = await copyAssets(tx, workspaceId, articleId, id);
    const document = await doTask('replaceAssets', source.document, assetIds);
    const article = await tx
      .updateTable('articles')
      .set({
        document,
        word_count: source.word_count,
        ...(await renderArticle(tx, { ...copied, document })),
        updated_at: writtenNow,
      })
      .where('id', '=', id)
      .returning(articleColumns)
      .executeTakeFirstOrThrow();
    await copyCategories(tx, workspaceId, articleId, id);
    await recordEvents(tx, context, [
      {
        type: 'article.created',
        data: { articleId: id, projectId: article.project_id, title: article.title },
      },
    ]);
    await recordAudit(tx, context, {
      action: 'articles.duplicated',
      targetType: 'article',
      targetId: id,
      details: { sourceArticleId: articleId, title: article.title },
    });
    if (!(await reserveBytes(tx, workspaceId, bytes))) throw storageQuotaExceeded(bytes);
    return toArticle(article);
  });
}

async function readForCopy(tx: Tx, workspaceId: WorkspaceId, articleId: ArticleId): Promise<ArticleRow> {
  const row = await tx
    .selectFrom('articles')
    .select(articleColumns)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', articleId)
    .forShare()
    .executeTakeFirst();
  if (row === undefined) throw notFound('article');
  return row;
}

/** Rows that share the source's blobs: storage is content-addressed, so no bytes move. */
async function copyAssets(
  tx: Tx,
  workspaceId: WorkspaceId,
  sourceId: ArticleId,
  targetId: ArticleId,
): Promise<{ assetIds: ReadonlyMap<string, AssetId>; bytes: number }> {
  const assets = await tx
    .selectFrom('assets')
    .select(['id', 'role', 'content_hash', 'media_type', 'byte_size', 'file_name', 'alt_text'])
    .where('workspace_id', '=', workspaceId)
    .where('article_id', '=', sourceId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const assetIds = new Map<string, AssetId>(assets.map((asset) => [asset.id, newId<AssetId>()]));
  if (assets.length > 0) {
    await tx
      .insertInto('assets')
      .values(
        assets.map((asset, index) => ({
          ...asset,
          id: assetIds.get(asset.id) ?? newId<AssetId>(),
          workspace_id: workspaceId,
          article_id: targetId,
          created_at: createdInOrder(index),
        })),
      )
      .execute();
  }
  return { assetIds, bytes: assets.reduce((sum, { byte_size }) => sum + byte_size, 0) };
}

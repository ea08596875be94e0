import { isDeepStrictEqual } from 'node:util';
import { copyCategories } from '../categories/copy.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { reserveBytes, storageQuotaExceeded } from '../credits/storage-quota.ts';
import type { Database, Queryable, Tx } from '../db/database.ts';
import { CHANGED, retryingChanged } from '../db/retrying-changed.ts';
import { inTransaction } from '../db/transaction.ts';
import { parsePlaces, replaceAssetsInPlaces } from '../document/render/places.ts';
import { bytesOf, type SourceAsset } from '../document/translation/source.ts';
import { notFound } from '../errors.ts';
import { recordChange } from '../events/record.ts';
import { type ArticleId, type AssetId, newId, type TranslationGroupId, type WorkspaceId } from '../ids.ts';
import { doTask } from '../threads/pool.ts';
import { copiesOf, insertAssets, newAssetIds, readAssets } from './images.ts';
import { insertArticle } from './insert.ts';
import { storeLinks } from './links/store.ts';
import { articleColumns } from './queries.ts';
import { type ShownArticle, showArticle } from './show.ts';

/**
 * Creates a DRAFT with the article's language, content, images and categories, in a translation group of its
 * own (articles.create and articles.read). Emits article.created.
 * @param title of the copy; the original's when omitted
 * @throws {ServiceError} RESOURCE_NOT_FOUND; QUOTA_EXCEEDED when the copied images do not fit
 */
export async function duplicateArticle(
  context: VerbContext,
  articleId: ArticleId,
  title?: string,
): Promise<ShownArticle> {
  requirePermissions(context.actor, 'articles.create', 'articles.read');
  return retryingChanged(async () => {
    const prepared = await prepareCopy(context.db, context.actor.workspaceId, articleId);
    return inTransaction(context.db, (tx) => insertCopy(tx, context, articleId, title, prepared));
  });
}

/** A copy's body, prepared before the transaction so that no lock or connection is held meanwhile. */
interface PreparedCopy {
  /** The original when it was copied. */
  readonly source: { readonly document: string; readonly assets: readonly SourceAsset[] };
  readonly copies: readonly SourceAsset[];
  readonly assetIds: ReadonlyMap<string, AssetId>;
  readonly document: string;
}

/** Null when the article does not exist. */
async function prepareCopy(
  db: Database,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
): Promise<PreparedCopy | null> {
  const source = await articleOf(db, workspaceId, articleId).executeTakeFirst();
  if (source === undefined) return null;
  const assets = await readAssets(db, workspaceId, articleId);
  const assetIds = newAssetIds(assets);
  const document = await doTask('copyDocument', source.document, assetIds);
  return {
    source: { document: source.document, assets },
    copies: copiesOf(assets, assetIds),
    assetIds,
    document,
  };
}

async function insertCopy(
  tx: Tx,
  context: VerbContext,
  articleId: ArticleId,
  title: string | undefined,
  prepared: PreparedCopy | null,
): Promise<ShownArticle | typeof CHANGED> {
  const { workspaceId } = context.actor;
  const source = await articleOf(tx, workspaceId, articleId)
    .forShare()
    .executeTakeFirstOrThrow(() => notFound('article'));
  const assets = await readAssets(tx, workspaceId, articleId);
  if (prepared === null || !isDeepStrictEqual({ document: source.document, assets }, prepared.source)) {
    return CHANGED;
  }
  const places = replaceAssetsInPlaces(parsePlaces(source.content_places), prepared.assetIds);
  const id = newId<ArticleId>();
  const article = await insertArticle(
    tx,
    {
      id,
      workspace_id: workspaceId,
      project_id: source.project_id,
      title: title ?? source.title,
      status: 'DRAFT',
      document: prepared.document,
      // A copy has the same texts: only the places name images.
      content_html: source.content_html,
      content_markdown: source.content_markdown,
      content_places: places === null ? null : JSON.stringify(places),
      rendered_by: source.rendered_by,
      word_count: source.word_count,
      meta_title: source.meta_title,
      meta_description: source.meta_description,
      target_keywords: source.target_keywords,
      secondary_keywords: source.secondary_keywords,
      primary_language: source.primary_language,
      translation_group_id: newId<TranslationGroupId>(),
    },
    context.actor,
  );
  await storeLinks(tx, context, id, null, places);
  await insertAssets(tx, workspaceId, id, prepared.copies);
  await copyCategories(tx, workspaceId, articleId, id);
  const details = { sourceArticleId: articleId, title: article.title };
  const audit = { action: 'articles.duplicated', targetType: 'article', targetId: id, details };
  const created = { articleId: id, projectId: article.project_id, title: article.title };
  await recordChange(tx, context, audit, [{ type: 'article.created', data: created }]);
  const bytes = bytesOf(assets);
  if (!(await reserveBytes(tx, workspaceId, bytes))) throw storageQuotaExceeded(bytes);
  return showArticle(tx, article);
}

const articleOf = (db: Queryable, workspaceId: WorkspaceId, articleId: ArticleId) =>
  db
    .selectFrom('articles')
    .select(articleColumns)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', articleId);

import { isDeepStrictEqual } from 'node:util';
import { copyCategories } from '../categories/copy.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { reserveBytes, storageQuotaExceeded } from '../credits/storage-quota.ts';
import type { Database, Queryable, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import type { SourceAsset } from '../document/translation/source.ts';
import { notFound } from '../errors.ts';
import { recordChange } from '../events/record.ts';
import { type ArticleId, newId, type TranslationGroupId, type WorkspaceId } from '../ids.ts';
import { doTask } from '../threads/pool.ts';
import { bytesOf, copiesOf, imagesForBody, insertAssets, newAssetIds, readAssets } from './images.ts';
import { insertArticle } from './insert.ts';
import { CHANGED, retryingChanged } from './prepare.ts';
import { articleColumns } from './queries.ts';
import { addressesOf, type References, type Rendering, referencesOf, renderBody } from './render.ts';
import { type ArticleResponse, toArticle } from './schemas.ts';

/**
 * Makes a DRAFT with the article's language, content, images and categories, in a translation group of its
 * own (articles.create and articles.read). Emits article.created.
 * @param title of the copy; the original's when omitted
 * @throws {ServiceError} RESOURCE_NOT_FOUND; QUOTA_EXCEEDED when the copied images do not fit
 */
export async function duplicateArticle(
  context: VerbContext,
  articleId: ArticleId,
  title?: string,
): Promise<ArticleResponse> {
  requirePermissions(context.actor, 'articles.create', 'articles.read');
  return retryingChanged(async () => {
    const prepared = await prepareCopy(context.db, context.actor.workspaceId, articleId);
    return inTransaction(context.db, (tx) => insertCopy(tx, context, articleId, title, prepared));
  });
}

/** A copy's body rendered before the transaction, so that no lock and no connection waits for it. */
interface PreparedCopy {
  /** What it was made from. */
  readonly source: { readonly document: string; readonly assets: readonly SourceAsset[] };
  readonly copies: readonly SourceAsset[];
  readonly links: References['links'];
  readonly content: Rendering & { readonly document: string };
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
  const copies = copiesOf(assets, assetIds);
  const document = await doTask('replaceAssets', source.document, assetIds);
  const links = await addressesOf(db, source.project_id, referencesOf(document).articleIds);
  const rendering = await renderBody(document, { links, images: imagesForBody(copies) });
  return {
    source: { document: source.document, assets },
    copies,
    links,
    content: { document, ...rendering },
  };
}

async function insertCopy(
  tx: Tx,
  context: VerbContext,
  articleId: ArticleId,
  title: string | undefined,
  prepared: PreparedCopy | null,
): Promise<ArticleResponse | typeof CHANGED> {
  const { workspaceId } = context.actor;
  const source = await articleOf(tx, workspaceId, articleId)
    .forShare()
    .executeTakeFirstOrThrow(() => notFound('article'));
  const assets = await readAssets(tx, workspaceId, articleId);
  if (prepared === null || !isDeepStrictEqual({ document: source.document, assets }, prepared.source)) {
    return CHANGED;
  }
  const links = await addressesOf(tx, source.project_id, referencesOf(source.document).articleIds);
  if (!isDeepStrictEqual(links, prepared.links)) return CHANGED;

  const id = newId<ArticleId>();
  const article = await insertArticle(
    tx,
    {
      id,
      workspace_id: workspaceId,
      project_id: source.project_id,
      title: title ?? source.title,
      status: 'DRAFT',
      ...prepared.content,
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
  await insertAssets(tx, workspaceId, id, prepared.copies);
  await copyCategories(tx, workspaceId, articleId, id);
  const details = { sourceArticleId: articleId, title: article.title };
  const audit = { action: 'articles.duplicated', targetType: 'article', targetId: id, details };
  const created = { articleId: id, projectId: article.project_id, title: article.title };
  await recordChange(tx, context, audit, [{ type: 'article.created', data: created }]);
  const bytes = bytesOf(assets);
  if (!(await reserveBytes(tx, workspaceId, bytes))) throw storageQuotaExceeded(bytes);
  return toArticle(article);
}

const articleOf = (db: Queryable, workspaceId: WorkspaceId, articleId: ArticleId) =>
  db
    .selectFrom('articles')
    .select(articleColumns)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', articleId);

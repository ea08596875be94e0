import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { notFound } from '../errors.ts';
import type { ListPage } from '../http/stream-list.ts';
import type { ArticleId, AssetId } from '../ids.ts';
import { type Asset, type AssetRow, assetColumns, toAsset } from './schemas.ts';

/** Images of a page. The widest, with names of control characters, are 8 KB as JSON each. */
const PAGE_ASSETS = 32;

/** Where a page of images ended. */
export interface AssetPosition {
  /** A time as Postgres writes it. */
  readonly at: string;
  readonly id: AssetId;
}

export const BEFORE_ALL_ASSETS: AssetPosition = {
  at: '-infinity',
  id: '00000000-0000-0000-0000-000000000000' as AssetId,
};

/** The images of the article after a position, oldest first (articles.read). */
export async function readAssetsAfter(
  { db, actor }: VerbContext,
  articleId: ArticleId,
  after: AssetPosition,
): Promise<ListPage<AssetPosition>> {
  requirePermissions(actor, 'articles.read');
  const rows = await db
    .selectFrom('assets')
    .select(assetColumns)
    .select(sql<string>`created_at::text`.as('at'))
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId)
    .where(sql<boolean>`(created_at, id) > (${after.at}::timestamptz, ${after.id}::uuid)`)
    .orderBy('created_at')
    .orderBy('id')
    .limit(PAGE_ASSETS)
    .execute();
  const last = rows.length === PAGE_ASSETS ? rows.at(-1) : undefined;
  return {
    items: rows.map((row) => JSON.stringify(toAsset(row))),
    last: last === undefined ? null : { at: last.at, id: last.id },
  };
}

/** One image of the article (articles.read). @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function readAsset(
  { db, actor }: VerbContext,
  articleId: ArticleId,
  assetId: AssetId,
): Promise<Asset> {
  requirePermissions(actor, 'articles.read');
  const row = await db
    .selectFrom('assets')
    .select(assetColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId)
    .where('id', '=', assetId)
    .executeTakeFirstOrThrow(() => notFound('asset'));
  return toAsset(row);
}

/** The image of a locked article. @throws {ServiceError} RESOURCE_NOT_FOUND */
export const findAsset = (tx: Tx, articleId: ArticleId, assetId: AssetId): Promise<AssetRow> =>
  tx
    .selectFrom('assets')
    .select(assetColumns)
    .where('article_id', '=', articleId)
    .where('id', '=', assetId)
    .executeTakeFirstOrThrow(() => notFound('asset'));

import type { Queryable } from '../db/database.ts';
import type { StoredDocument } from '../document/tasks/stored.ts';
import { invalid } from '../errors.ts';
import type { ArticleId } from '../ids.ts';

/**
 * The hero is the cover and cannot be added to the body (contract.md F16).
 * @throws {ServiceError} INVALID_REQUEST naming the block
 */
export async function refuseHeroInBody(
  db: Queryable,
  articleId: ArticleId,
  { images }: StoredDocument,
): Promise<void> {
  if (images.length === 0) return;
  const hero = await db
    .selectFrom('assets')
    .select('id')
    .where('article_id', '=', articleId)
    .where('role', '=', 'hero')
    .executeTakeFirst();
  if (hero === undefined) return;
  const shown = images.find(({ assetId }) => assetId === hero.id);
  if (shown === undefined) return;
  throw invalid(
    `/documentJson/blocks/${shown.block}/assetId`,
    "This image is the article's hero; the body cannot use it.",
  );
}

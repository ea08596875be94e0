import { requirePermissions, type VerbContext } from '../context.ts';
import { notFound } from '../errors.ts';
import type { ArticleId } from '../ids.ts';
import { articleColumns } from './queries.ts';
import { type ShownArticle, showArticle } from './show.ts';

/** Reads one article of the actor's workspace (articles.read). */
export async function readArticle({ db, actor }: VerbContext, articleId: ArticleId): Promise<ShownArticle> {
  requirePermissions(actor, 'articles.read');
  const row = await db
    .selectFrom('articles')
    .select(articleColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', articleId)
    .executeTakeFirstOrThrow(() => notFound('article'));
  return showArticle(db, row);
}

import { requirePermissions, type VerbContext } from '../context.ts';
import { type Wallet, walletOf } from '../credits/wallet.ts';
import { notFound } from '../errors.ts';
import type { ArticleId } from '../ids.ts';
import { type Estimate, estimateDocument } from './price.ts';
import { checkTargetLanguage } from './target-language.ts';

/** What a translation would cost, and whether the wallet covers it. Nothing is reserved (articles.read). */
export async function estimateTranslation(
  { db, actor }: VerbContext,
  input: { articleId: ArticleId; language: string },
): Promise<{ estimate: Estimate; wallet: Wallet; sufficient: boolean }> {
  requirePermissions(actor, 'articles.read');
  const source = await db
    .selectFrom('articles')
    .innerJoin('projects', 'projects.id', 'articles.project_id')
    .select(['articles.document', 'articles.primary_language', 'projects.languages'])
    .where('articles.workspace_id', '=', actor.workspaceId)
    .where('articles.id', '=', input.articleId)
    .executeTakeFirst();
  if (source === undefined) throw notFound('article');
  checkTargetLanguage('query/language', input.language, source);
  const estimate = estimateDocument(source.document);
  const wallet = await walletOf(db, actor.workspaceId);
  return { estimate, wallet, sufficient: wallet.available >= estimate.total };
}

import type { z } from 'zod';
import { readAssets } from '../articles/images.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { walletOf } from '../credits/wallet.ts';
import { notFound } from '../errors.ts';
import type { ArticleId } from '../ids.ts';
import { estimateSource } from './price.ts';
import { checkTargetLanguage, readTexts, toSnapshot } from './read-source.ts';
import type { estimateResponse } from './schemas.ts';

/** Price of a translation, and whether the wallet covers it (articles.read). Nothing is reserved. */
export async function estimateTranslation(
  { db, actor }: VerbContext,
  input: { articleId: ArticleId; language: string },
): Promise<z.output<typeof estimateResponse>> {
  requirePermissions(actor, 'articles.read');
  const source = await readTexts(db, actor.workspaceId, input.articleId).executeTakeFirstOrThrow(() =>
    notFound('article'),
  );
  checkTargetLanguage('query/language', input.language, source);
  const assets = await readAssets(db, actor.workspaceId, input.articleId);
  const estimate = await estimateSource(toSnapshot(source, assets));
  const wallet = await walletOf(db, actor.workspaceId);
  return { estimate, wallet, sufficient: wallet.available >= estimate.total };
}

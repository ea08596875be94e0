import type { z } from 'zod';
import { requirePermissions, type VerbContext } from '../context.ts';
import { walletOf } from '../credits/wallet.ts';
import type { GenerationConfig } from './config.ts';
import { firstRun, type GenerationFeatures, priceOf } from './price.ts';
import type { estimateResponse } from './schemas.ts';

/** Price of a generation, and whether the wallet covers its first run (articles.read). Nothing is reserved. */
export async function estimateGeneration(
  { db, actor }: VerbContext,
  config: GenerationConfig,
  features: GenerationFeatures,
): Promise<z.output<typeof estimateResponse>> {
  requirePermissions(actor, 'articles.read');
  const wallet = await walletOf(db, actor.workspaceId);
  const estimate = priceOf(config, features, firstRun(config));
  const whole = priceOf(config, features, 'whole');
  return { estimate, whole, wallet, sufficient: wallet.available >= estimate.total };
}

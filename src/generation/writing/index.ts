/** Creates the writers of a deployment. */
import type { Logger } from 'pino';
import { type Config, ConfigurationError } from '../../config.ts';
import { CALL_MS } from '../call-limits.ts';
import { createPseudoWriter } from './pseudo.ts';
import type { ArticleWriter, ArticleWriters } from './writer.ts';

/** Silence in the middle of a response. */
const SILENCE_MS = 30_000;

/**
 * The configured writers. Logs when one model writes both qualities, since premium costs twice as much, and when none writes
 * although there is one. The library of chat models is loaded only where one writes.
 * @throws {ConfigurationError} naming a missing variable; `loadConfig` refuses it earlier
 */
export async function createArticleWriters(
  config: Config,
  logger: Pick<Logger, 'info' | 'warn'>,
): Promise<ArticleWriters> {
  if (config.GENERATION_PROVIDER === 'pseudo') {
    const pseudo = createPseudoWriter();
    if (config.AI_MODEL !== undefined) {
      logger.warn(
        'articles are written by pseudo although AI_MODEL is set: GENERATION_PROVIDER chooses who writes',
      );
    }
    return { premium: pseudo, standard: pseudo };
  }
  const { AI_BASE_URL: baseUrl, AI_MODEL: model, AI_API_KEY: apiKey } = config;
  const { AI_MODEL_PREMIUM: premium = model, AI_MODEL_STANDARD: standard = model } = config;
  if (baseUrl === undefined || premium === undefined || standard === undefined) {
    throw new ConfigurationError('AI_BASE_URL, AI_MODEL: needed by GENERATION_PROVIDER=openai-compatible');
  }
  if (premium === standard) {
    logger.info({ model: premium }, 'articles of both qualities are written by one model');
  }
  const limits = {
    firstTokenMs: config.AI_FIRST_TOKEN_SECONDS * 1_000,
    silenceMs: SILENCE_MS,
    totalMs: CALL_MS,
  };
  const tokens = {
    reasoningTokens: config.AI_REASONING_TOKENS,
    maxOutputTokens: config.AI_MAX_OUTPUT_TOKENS,
    contextTokens: config.AI_CONTEXT_TOKENS,
  };
  const { createOpenAiCompatibleWriter } = await import('./openai-compatible.ts');
  const writer = (name: string): ArticleWriter =>
    createOpenAiCompatibleWriter({ baseUrl, model: name, apiKey, limits, tokens });
  return { premium: writer(premium), standard: writer(standard) };
}

/** Creates the writers of a deployment. */
import type { Logger } from 'pino';
import { type Config, ConfigurationError } from '../../config.ts';
import { createOpenAiCompatibleWriter } from './openai-compatible.ts';
import { createPseudoWriter } from './pseudo.ts';
import type { ArticleWriter, ArticleWriters } from './writer.ts';

/** Environment variables of the writers. */
type WriterConfig = Pick<Config, 'GENERATION_PROVIDER'> &
  Partial<
    Pick<
      Config,
      | 'AI_BASE_URL'
      | 'AI_MODEL'
      | 'AI_MODEL_PREMIUM'
      | 'AI_MODEL_STANDARD'
      | 'AI_API_KEY'
      | 'PROVIDER_TIMEOUT_SECONDS'
    >
  >;

/**
 * The configured writers. Logs when one model writes both qualities, since premium costs twice as much.
 * @throws {ConfigurationError} naming a missing variable; `loadConfig` refuses it earlier
 */
export function createArticleWriters(config: WriterConfig, logger: Pick<Logger, 'info'>): ArticleWriters {
  if (config.GENERATION_PROVIDER === 'pseudo') {
    const pseudo = createPseudoWriter();
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
  const timeoutMs = (config.PROVIDER_TIMEOUT_SECONDS ?? 120) * 1_000;
  const writer = (name: string): ArticleWriter =>
    createOpenAiCompatibleWriter({ baseUrl, model: name, apiKey, timeoutMs });
  return { premium: writer(premium), standard: writer(standard) };
}

/** Creates the image model of a deployment. */
import type { Logger } from 'pino';
import { type Config, ConfigurationError } from '../../config.ts';
import type { ImageModel } from '../image-model.ts';

/**
 * The configured image model, loaded here with its library; null with IMAGE_PROVIDER=none: no image is made or charged then
 * (contract.md G95).
 * @throws {ConfigurationError} naming a missing variable; `loadConfig` refuses it earlier
 */
export async function createImageModel(config: Config): Promise<ImageModel | null> {
  if (config.IMAGE_PROVIDER === 'none') return null;
  if (config.IMAGE_PROVIDER === 'pseudo') return (await import('./pseudo.ts')).createPseudoImageModel();
  const { IMAGE_BASE_URL: baseUrl, IMAGE_MODEL_STANDARD: standard, IMAGE_API_KEY: apiKey } = config;
  if (baseUrl === undefined || standard === undefined) {
    throw new ConfigurationError(
      'IMAGE_BASE_URL, IMAGE_MODEL_STANDARD: needed by IMAGE_PROVIDER=openai-compatible',
    );
  }
  const models = { standard, hd: config.IMAGE_MODEL_HD ?? standard };
  const timeoutMs = config.IMAGE_TIMEOUT_SECONDS * 1_000;
  const { createOpenAiCompatibleImageModel } = await import('./openai-compatible.ts');
  return createOpenAiCompatibleImageModel({ baseUrl, models, apiKey, timeoutMs });
}

/** Logs at the start what nobody expects: no images beside a real writer, or one model for two prices. */
export function noteImageProvider(config: Config, logger: Pick<Logger, 'info' | 'warn'>): void {
  const { IMAGE_PROVIDER: provider, IMAGE_MODEL_STANDARD: standard, IMAGE_MODEL_HD: hd = standard } = config;
  if (provider === 'none' && config.GENERATION_PROVIDER !== 'pseudo') {
    logger.warn('images are quoted and held, none is made and none is charged: IMAGE_PROVIDER is none');
  }
  if (provider === 'openai-compatible' && standard === hd) {
    logger.info({ model: standard }, 'images of both qualities are made by one model');
  }
}

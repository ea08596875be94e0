/** Creates the image model of a deployment. */
import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import type { ImageModel } from '../image-model.ts';

/** Environment variables of the image model. */
export type ImageModelConfig = Pick<Config, 'IMAGE_PROVIDER' | 'GENERATION_PROVIDER'> &
  Partial<
    Pick<
      Config,
      'IMAGE_BASE_URL' | 'IMAGE_API_KEY' | 'IMAGE_MODEL_STANDARD' | 'IMAGE_MODEL_HD' | 'IMAGE_TIMEOUT_SECONDS'
    >
  >;

/** The configured image model; null when there is none: no image is made then, and none is charged. */
export function createImageModel(config: ImageModelConfig, _logger: Pick<Logger, 'info'>): ImageModel | null {
  if (config.IMAGE_PROVIDER === 'none') return null;
  throw new Error(`IMAGE_PROVIDER=${config.IMAGE_PROVIDER} is written in the next commit`);
}

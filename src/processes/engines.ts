import type { Logger } from 'pino';
import type { BlobStore } from '../blobs/blob-store.ts';
import { createBlobStore } from '../blobs/create.ts';
import type { ConnectedConfig } from '../config.ts';
import { createArticleWriters } from '../generation/writing/index.ts';
import type { ArticleWriters } from '../generation/writing/writer.ts';
import type { MediaProcessor } from '../media/media.ts';
import { createMediaProcessor } from '../media/processor.ts';
import { tracedImages, tracedTranslations } from '../providers/engine-spans.ts';
import type { ImageModel } from '../providers/image-model.ts';
import { createImageModel, noteImageProvider } from '../providers/images/index.ts';
import { createTranslationProvider } from '../providers/index.ts';
import type { TranslationProvider } from '../providers/types.ts';
import { createResearch, type Research } from '../research/create.ts';
import { createSuggestionProvider } from '../suggestions/index.ts';
import type { SuggestionProvider } from '../suggestions/provider.ts';

/** What a worker's activities work with outside Postgres and Temporal. */
export interface Engines {
  readonly provider: TranslationProvider;
  readonly suggestions: SuggestionProvider;
  readonly writers: ArticleWriters;
  readonly imageModel: ImageModel | null;
  readonly research: Research | null;
  readonly media: MediaProcessor;
  readonly blobs: BlobStore;
}

/** What takes the place of engines that the configuration names. */
export type EngineOverrides = Partial<
  Pick<Engines, 'provider' | 'suggestions' | 'writers' | 'imageModel' | 'research'>
>;

/** The engines of the configuration; each of their calls is a span. */
export async function createEngines(
  config: ConnectedConfig,
  logger: Logger,
  overrides: EngineOverrides,
): Promise<Engines> {
  noteImageProvider(config, logger);
  const imageModel = overrides.imageModel ?? (await createImageModel(config));
  return {
    provider: tracedTranslations(overrides.provider ?? (await createTranslationProvider(config))),
    suggestions: overrides.suggestions ?? (await createSuggestionProvider(config)),
    writers: overrides.writers ?? (await createArticleWriters(config, logger)),
    imageModel: imageModel && tracedImages(imageModel),
    research: overrides.research ?? (await createResearch(config)),
    media: createMediaProcessor({ logger }),
    blobs: await createBlobStore(config),
  };
}

/** Ends processes and connections of the engines. */
export async function closeEngines({ media, blobs, research }: Engines): Promise<void> {
  await media.close();
  await blobs.close();
  await research?.close();
}

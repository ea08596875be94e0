import type { ImageFailure } from '../../db/tables.ts';
import type { GenerationStep } from '../../generation/progress.ts';
import { ProviderError, type ProviderErrorKind } from '../../providers/types.ts';

/** Progress on entering each step. */
export const PROGRESS = { images: 5, 'media-processing': 80, finalize: 95 } as const satisfies Partial<
  Record<GenerationStep, number>
>;

const AGAIN = 'Nothing was charged; start it again later.';

/** Why there is no image, as the job's error; the kind decides what it counts as. */
const FAILURES: Readonly<Record<ImageFailure, readonly [ProviderErrorKind, string]>> = {
  no_model: ['unavailable', 'This service has no model that draws images any more. Nothing was charged.'],
  own_cover: ['unusable', 'no'],
  image_limit: ['unusable', 'no'],
  no_prompt: ['unusable', 'no'],
  refused: [
    'refused',
    'The model declines to draw this image. Nothing was charged; try again with another prompt.',
  ],
  busy: ['unavailable', `The model that draws images was busy or out of reach for too long. ${AGAIN}`],
  misconfigured: [
    'misconfigured',
    'The model that draws images refuses this service.',
  ],
  unanswered: ['unavailable', `The model that draws images sent no whole response. ${AGAIN}`],
  not_an_image: ['unusable', 'What the model sent is not an image that can be used. Nothing was charged; try again.'],
  too_large: ['unusable', 'The image that the model sent has too many bytes. Nothing was charged; try again.'],
  storage: ['unavailable', `The image could not be stored or decoded. ${AGAIN}`],
};

import type { ImageFailure } from '../../db/tables.ts';
import { type DrawingDependencies, type DrawingTask, drawImage } from '../../generation/images/draw.ts';
import { readImageOf } from '../../generation/images/images.ts';
import { type ProcessingDependencies, processImage } from '../../generation/images/process.ts';
import type { GenerationStep } from '../../generation/progress.ts';
import { ProviderError, type ProviderErrorKind } from '../../providers/types.ts';
import { ONLY_IMAGE } from './admit.ts';

/** Progress on entering each step. */
export const PROGRESS = { images: 5, 'media-processing': 80, finalize: 95 } as const satisfies Partial<
  Record<GenerationStep, number>
>;

type Task = Pick<DrawingTask, 'jobId' | 'persist'>;

/**
 * Has a model draw the image of a job, unless it is drawn.
 * @throws {ProviderError} as `drawImage`; with a message for customers when there is no image (contract.md G119)
 */
export async function drawAnew(
  dependencies: DrawingDependencies,
  task: Task & Pick<DrawingTask, 'signal'>,
): Promise<void> {
  await drawImage(dependencies, { ...task, number: ONLY_IMAGE });
  await requireImage(dependencies, task);
}

/** Decodes what was drawn and stores it with its smaller forms. @throws as `drawAnew` */
export async function processAnew(dependencies: ProcessingDependencies, task: Task): Promise<void> {
  await processImage(dependencies, { ...task, number: ONLY_IMAGE });
  await requireImage(dependencies, task);
}

async function requireImage(
  { db }: Pick<DrawingDependencies, 'db'>,
  { jobId, persist }: Task,
): Promise<void> {
  const { state, reason } = await persist(() => readImageOf(db, jobId, ONLY_IMAGE));
  if (state === 'failed') throw failureOf(reason ?? 'busy');
}

const LATER = 'Nothing was charged; start it again later.';
const AWAY = ['unavailable', `The model that draws images was busy or out of reach. ${LATER}`] as const;

/** Why there is no image: what it counts as, and a sentence for customers. The other reasons are those of runs. */
const FAILURES: Readonly<Partial<Record<ImageFailure, readonly [ProviderErrorKind, string]>>> = {
  no_model: ['unavailable', 'This service has no model that draws images any more. Nothing was charged.'],
  refused: [
    'refused',
    'The model declines to draw this image. Nothing was charged; try again with another prompt.',
  ],
  unanswered: ['unavailable', `The model that draws images sent no whole response. ${LATER}`],
  not_an_image: [
    'unusable',
    'What the model sent cannot be used as an image. Nothing was charged; try again.',
  ],
  too_large: [
    'unusable',
    'The image that the model sent has too many bytes. Nothing was charged; try again.',
  ],
  storage: ['unavailable', `The image could not be stored. ${LATER}`],
};

function failureOf(reason: ImageFailure): ProviderError {
  const [kind, message] = FAILURES[reason] ?? AWAY;
  return new ProviderError(kind, message);
}

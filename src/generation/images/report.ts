/** What the report of a generation says of its images (contract.md G110). */
import { z } from 'zod';
import { IMAGE_FAILURES } from '../../db/tables.ts';
import type { GenerationImage } from './images.ts';

const count = (description: string) => z.int().min(0).describe(description);

export const imagesSchema = z
  .object({
    requested: count('Images of the price, the cover included'),
    delivered: count('Images that are charged; 0 until the job is COMPLETED'),
    items: z.array(
      z.object({
        number: z.int().min(0).describe('0 is the cover'),
        role: z.enum(['hero', 'inline']),
        status: z.enum(['pending', 'drawn', 'delivered', 'failed']),
        assetId: z.uuid().nullable().describe('Null until it is delivered'),
        reason: z
          .enum(IMAGE_FAILURES)
          .nullable()
          .describe(
            'Why it is not there: `no_model`, this service has no image model; `own_cover`, the article has a cover of its own; `image_limit`, it has too many images; `no_prompt`, no description could be used; `refused`, the model declined it; `busy`, `misconfigured` or `unanswered`, the model was away, refuses this service, or did not respond; `not_an_image` or `too_large`, what it returned; `storage`, it could not be stored. Until then why its last attempt failed',
          ),
        answered: count('Calls of the model with a response, at most 2'),
        unanswered: count('Calls without one, at most 4'),
      }),
    ),
  })
  .describe('The images of the article; none where imageCount is 0, and in a run that ends with the outline');

const STATUS = {
  planned: 'pending',
  prompted: 'pending',
  drawn: 'drawn',
  processed: 'drawn',
  delivered: 'delivered',
  failed: 'failed',
} as const satisfies Record<GenerationImage['state'], string>;

export const imagesOfReport = (images: readonly GenerationImage[]): z.infer<typeof imagesSchema> => ({
  requested: images.length,
  delivered: images.filter(({ state }) => state === 'delivered').length,
  items: images.map(({ number, role, state, asset_id, reason, calls, unanswered }) => ({
    number,
    role,
    status: STATUS[state],
    assetId: state === 'delivered' ? asset_id : null,
    reason,
    answered: calls,
    unanswered,
  })),
});

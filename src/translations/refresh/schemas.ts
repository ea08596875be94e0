import { z } from 'zod';
import { walletSchema } from '../../credits/schemas.ts';
import { MAX_BLOCKS } from '../../document/format/schema.ts';
import { idempotencyKey, shortText } from '../../fields.ts';
import { nextCursor } from '../../http/paging.ts';
import { jobSchema } from '../../jobs/schemas.ts';

const estimateSchema = z
  .object({
    blocks: z.int().describe('Blocks of the source'),
    changedBlocks: z.int().describe('Blocks to be translated again, added or removed, proposals included'),
    changedFields: z
      .int()
      .describe('The same for title, meta title, meta description and the two lists of keywords'),
    changedImages: z.int().describe('The same for images'),
    words: z
      .int()
      .describe('Words that are translated. 40 characters without a space count as at least one word'),
    total: z
      .int()
      .describe(
        'Credits: 1 per started 1,000 words, at least 1 when there is anything to translate, at most what a new translation costs',
      ),
  })
  .meta({ id: 'RefreshEstimate' });

export type RefreshEstimate = z.infer<typeof estimateSchema>;

export const refreshEstimateResponse = z.object({
  estimate: estimateSchema,
  wallet: walletSchema,
  sufficient: z.boolean().describe('True when wallet.available covers estimate.total'),
});

export type RefreshEstimateResponse = z.infer<typeof refreshEstimateResponse>;

export const refreshBody = z.object({
  apply: z.enum(['untouched', 'none']).optional().meta({
    description:
      '`untouched` writes what no person has edited and proposes the rest; `none` proposes all. When omitted: `none` for a version that is APPROVED or PUBLISHED, else `untouched`.',
  }),
  blocks: z.array(shortText(1, 64)).min(1).max(MAX_BLOCKS).optional().meta({
    description:
      'Ids of the blocks to translate again, whether or not they have changed. When omitted: everything that has.',
  }),
  idempotencyKey: idempotencyKey
    .optional()
    .meta({ description: 'Takes precedence over the Idempotency-Key header.' }),
});

export const refreshResponse = z.object({
  job: jobSchema,
  estimate: estimateSchema,
  reused: z.literal(false),
});

export const refreshReplayResponse = z.object({
  job: jobSchema,
  estimate: z.null(),
  reused: z.literal(true),
});

const proposalSchema = z
  .object({
    id: z.uuid(),
    articleId: z.uuid().describe('The version to change'),
    jobId: z.uuid().describe('The refresh that made it'),
    unit: z
      .string()
      .describe(
        'What it is about: `title`, `metaTitle`, `metaDescription`, `targetKeywords`, `secondaryKeywords`, `block:<id>` or `image:<id>`, with ids of the source',
      ),
    action: z.enum(['replace', 'insert', 'remove']),
    reason: z
      .enum(['asked', 'unmanaged', 'ids', 'edited', 'saved', 'full'])
      .describe('Why it was not applied'),
    value: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'What the unit becomes, by its `type`: `text`, `texts`, `block` or `image`; null when it is removed',
      ),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Proposal' });

export type ProposalResponse = z.infer<typeof proposalSchema>;

export const proposalsResponse = z.object({ proposals: z.array(proposalSchema), nextCursor });

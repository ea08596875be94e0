import { z } from 'zod';
import { articleSchema, articleSummarySchema } from '../articles/schemas.ts';
import { walletSchema } from '../credits/schemas.ts';
import { idempotencyKey, languageTag } from '../fields.ts';
import { jobSchema } from '../jobs/schemas.ts';

const estimateSchema = z
  .object({
    words: z.int().meta({
      description:
        "Words in the source's current content. Title, meta texts, keywords, alternative texts and link titles count only beyond a free 200 words plus a fifth of the body's. 40 characters without a space count as at least one word.",
    }),
    total: z.int().meta({ description: 'Credits: 1 per started 1,000 words.' }),
  })
  .meta({ id: 'Estimate' });

/** contract.md T1. */
export type Estimate = z.infer<typeof estimateSchema>;

export const estimateQuery = z.object({
  language: languageTag.meta({
    description: "The target: one of the project's languages, not the source's.",
  }),
});

export const estimateResponse = z.object({
  estimate: estimateSchema,
  wallet: walletSchema,
  sufficient: z.boolean().meta({ description: 'True when wallet.available covers estimate.total.' }),
});

export const createBody = z.object({
  language: languageTag.meta({
    description: "The target: one of the project's languages, not the source's.",
  }),
  idempotencyKey: idempotencyKey
    .optional()
    .meta({ description: 'Takes precedence over the Idempotency-Key header.' }),
});

const created = { article: articleSchema, job: jobSchema };

export const createResponse = z.object({
  ...created,
  estimate: estimateSchema,
  reused: z.literal(false),
});

export const replayResponse = z.object({ ...created, estimate: z.null(), reused: z.literal(true) });

const count = (description: string) => z.int().min(0).describe(description);

const statesSchema = z
  .object({
    current: count('As last translated, on both sides'),
    stale: count('Changed in the source since'),
    edited: count('Changed in the version by a person'),
    editedAndStale: count('Both'),
    new: count('In the source alone, and not there when it was last translated'),
    gone: count('No longer in the source'),
  })
  .meta({
    id: 'TranslationStates',
    description:
      'How many units of a version are in each state: blocks, images, the title, meta texts and lists of keywords. Units that a person added to the version or removed from it are not counted.',
  });

export const listedTranslation = z.object({
  article: articleSummarySchema,
  job: jobSchema.nullable().describe('The latest job that writes it'),
  sourceArticleId: z.uuid().nullable().describe('What it was last translated from'),
  tracking: z
    .enum(['managed', 'unmanaged', 'source_gone'])
    .describe(
      '`managed` when it is recorded what was translated and written; `unmanaged` when not: an article that was never translated',
    ),
  states: statesSchema.nullable().describe('Null unless it is managed'),
});

export type ListedTranslation = z.infer<typeof listedTranslation>;

export const listResponse = z.object({ translations: z.array(listedTranslation) });

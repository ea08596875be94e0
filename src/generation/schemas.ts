import { z } from 'zod';
import { articleSchema } from '../articles/schemas.ts';
import { walletSchema } from '../credits/schemas.ts';
import { MAX_TITLE } from '../document/format/limits.ts';
import { idempotencyKey, languageTag, trimmedText } from '../fields.ts';
import { jobSchema } from '../jobs/schemas.ts';
import { generationConfigSchema } from './config.ts';
import { outlineSchema } from './outline.ts';

const credits = (description: string) => z.int().min(0).describe(description);

const estimateSchema = z
  .object({
    text: credits('1 per started 1,000 words of wordCount, 2 with writingQuality premium'),
    images: credits('1 per image, 3 with imageQuality hd'),
    imageCount: z.int().min(0).describe('Images, cover included'),
    research: credits('Charged if research delivered'),
    factChecking: credits('Charged if fact checking delivered'),
    total: credits('The maximum price, which is held'),
  })
  .meta({ id: 'GenerationEstimate' });

/** contract.md G1. */
export type GenerationEstimate = z.infer<typeof estimateSchema>;

const key = idempotencyKey
  .optional()
  .meta({ description: 'Takes precedence over the Idempotency-Key header.' });

export const estimateBody = z.object({ generationConfig: generationConfigSchema });

export const estimateResponse = z.object({
  estimate: estimateSchema.describe('For the run that these settings start'),
  whole: estimateSchema.describe('For all runs up to the article; more than `estimate` with reviewOutline'),
  wallet: walletSchema,
  sufficient: z.boolean().describe('True when wallet.available covers estimate.total'),
});

export const generateArticleBody = z.object({
  generationConfig: generationConfigSchema,
  title: trimmedText(1, MAX_TITLE).optional().meta({
    description: 'When omitted, the topic, cut to 300 characters, and then the title of the outline.',
  }),
  language: languageTag.optional().meta({
    description:
      "The article's primaryLanguage: one of the project's languages; its primary language when omitted.",
  }),
  idempotencyKey: key,
});

const fresh = z.boolean().default(false).meta({
  description: 'Takes over nothing that an earlier run of this article, which failed, has written.',
});

export const generateDraftBody = z.object({
  generationConfig: generationConfigSchema
    .optional()
    .meta({ description: 'What the article was last generated with, when omitted.' }),
  replaceOutline: z
    .boolean()
    .default(false)
    .meta({ description: 'Needed to replace an outline that was edited.' }),
  fresh,
  idempotencyKey: key,
});

export const approveBody = z.object({ fresh, idempotencyKey: key });

const warningSchema = z
  .object({
    code: z.enum(['language_differs']),
    message: z.string(),
  })
  .meta({ id: 'GenerationWarning' });

export type GenerationWarning = z.infer<typeof warningSchema>;

const generated = { article: articleSchema, job: jobSchema };

export const generateResponse = z.object({
  ...generated,
  estimate: estimateSchema,
  reused: z.literal(false),
  warnings: z.array(warningSchema).optional().describe('Present when there are any.'),
});

export const replayResponse = z.object({ ...generated, estimate: z.null(), reused: z.literal(true) });

export const outlineBody = z.object({ outline: outlineSchema });

export const outlineResponse = z.object({
  outline: outlineSchema,
  edited: z.boolean().describe('Whether it was edited since a run made it'),
});

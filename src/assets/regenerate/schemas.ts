import { z } from 'zod';
import { articleSchema } from '../../articles/schemas.ts';
import { walletSchema } from '../../credits/schemas.ts';
import { IMAGE_FAILURES, IMAGE_STYLES, JOB_STATUSES } from '../../db/tables.ts';
import { idempotencyKey, trimmedText, uuid } from '../../fields.ts';
import { callSchema } from '../../generation/call-report.ts';
import { jobSchema } from '../../jobs/schemas.ts';

/** Maximum characters of a prompt. */
const MAX_PROMPT = 2_000;

export const QUALITIES = ['standard', 'hd'] as const;
export type ImageQuality = (typeof QUALITIES)[number];

const quality = z
  .enum(QUALITIES)
  .optional()
  .meta({ description: "That of the article's generationConfig when omitted, else standard." });

export const regenerateBody = z.object({
  prompt: trimmedText(1, MAX_PROMPT).optional().meta({
    description:
      "What is to be seen. The image's own prompt when omitted; an uploaded image has none. It becomes the image's prompt.",
  }),
  quality,
  idempotencyKey: idempotencyKey
    .optional()
    .meta({ description: 'Takes precedence over the Idempotency-Key header.' }),
});

export const estimateQuery = z.object({ quality });

const estimateSchema = z
  .object({
    quality: z.enum(QUALITIES),
    total: z.int().describe('1, or 3 with quality hd'),
  })
  .meta({ id: 'RegenerationEstimate' });

export type RegenerationEstimate = z.infer<typeof estimateSchema>;

export const regenerationEstimateResponse = z.object({
  estimate: estimateSchema,
  wallet: walletSchema,
  sufficient: z.boolean().describe('True when wallet.available covers estimate.total'),
});

const queued = { article: articleSchema, job: jobSchema };

export const regenerateResponse = z.object({
  ...queued,
  estimate: estimateSchema,
  reused: z.literal(false),
});

export const regenerateReplayResponse = z.object({
  ...queued,
  estimate: z.null(),
  reused: z.literal(true),
});

export const imageReportSchema = z
  .object({
    jobId: uuid,
    articleId: uuid,
    assetId: uuid.describe('The image that is regenerated; it may be deleted by now'),
    status: z.enum(JOB_STATUSES),
    credits: z.object({
      estimated: z.int(),
      reserved: z.int(),
      consumed: z.int().describe('What was charged'),
    }),
    quality: z.enum(QUALITIES),
    style: z.enum(IMAGE_STYLES).nullable(),
    prompt: z.string().nullable().describe('Null once RETENTION_DAYS are over'),
    reason: z
      .enum(IMAGE_FAILURES)
      .nullable()
      .describe('Why there is no image, or was none at the last attempt'),
    calls: z.array(callSchema).describe('Calls of the model in order, until RETENTION_DAYS are over'),
  })
  .meta({ id: 'ImageReport' });

export type ImageReport = z.infer<typeof imageReportSchema>;

import { z } from 'zod';
import { walletSchema } from '../../credits/schemas.ts';
import { MAX_BLOCKS } from '../../document/format/schema.ts';
import { UNIT_STATES } from '../../document/refresh/types.ts';
import { idempotencyKey } from '../../fields.ts';
import { nextCursor, pageQueryOf } from '../../http/paging.ts';
import type { ProposalId } from '../../ids.ts';
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

/** Of a unit, as proposals name it: a block's or an image's id has up to 64 characters. */
const unitName = z
  .string()
  .max(70)
  .regex(/^(?:title|metaTitle|metaDescription|targetKeywords|secondaryKeywords|(?:block|image):.+)$/su, {
    error:
      'Expected `title`, `metaTitle`, `metaDescription`, `targetKeywords`, `secondaryKeywords`, `block:<id>` or `image:<id>`.',
  });

const apply = z.enum(['untouched', 'none']).optional().meta({
  description:
    '`untouched` writes what no person has edited and proposes the rest; `none` proposes all. When omitted: `none` for a version that is APPROVED or PUBLISHED, else `untouched`.',
});

const units = z.array(unitName).min(1).max(MAX_BLOCKS).optional().meta({
  description:
    'The units to translate again, whether or not they have changed, named as proposals name them. When omitted: everything that has.',
});

export const refreshEstimateBody = z.object({ apply, units });

export const refreshBody = z.object({
  apply,
  units,
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

const unitValue = z.record(z.string(), z.unknown()).nullable();

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
    oldSource: unitValue.describe(
      'What the source was when the unit was last translated; null when that is not known, or for a new unit',
    ),
    newSource: unitValue.describe('What the source was when the proposal was made; null when it was removed'),
    current: unitValue.describe('What stands in the version now; null when it has nothing there'),
    value: unitValue.describe(
      'What the unit becomes, by its `type`: `text`, `texts`, `block` or `image`; null when it is removed',
    ),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Proposal' });

export type ProposalResponse = z.infer<typeof proposalSchema>;

export const proposalsResponse = z.object({ proposals: z.array(proposalSchema), nextCursor });

/** Pages of what editors decide about. */
export const statePage = pageQueryOf(500, 500);

const unitStateSchema = z
  .object({
    unit: z.string().describe('Its name, as proposals have it'),
    blockId: z.string().nullable().describe("The version's block; null when it has none"),
    assetId: z.uuid().nullable().describe("The version's image; null when it has none"),
    path: z
      .string()
      .nullable()
      .describe(
        'JSON pointer into the article as it is read: a field or a block; null for images, and for what the version does not have',
      ),
    state: z.enum(UNIT_STATES),
    writtenBy: z
      .object({
        kind: z.enum(['job', 'person']),
        jobId: z.uuid().nullable().describe('The translation or refresh'),
        at: z.iso
          .datetime()
          .nullable()
          .describe('When it was written, or when a person decided that it stays'),
      })
      .nullable()
      .describe('The author of its current content; null where unknown, also in its fields'),
    proposalId: z.uuid().nullable().describe('Its open proposal'),
  })
  .meta({ id: 'UnitState' });

export const translationStateResponse = z.object({
  sourceArticleId: z.uuid().nullable(),
  tracking: z
    .enum(['managed', 'source_gone', 'unmanaged'])
    .describe('Units are listed for `managed` alone, as in the list of translations'),
  units: z.array(unitStateSchema),
  nextCursor,
});

export type TranslationState = z.infer<typeof translationStateResponse>;

/** The most ids or units that a request names. */
export const MAX_NAMED = 1_000;

const chosen = (what: string) =>
  z
    .union([
      z.literal('all'),
      z.array(z.uuid().transform((id) => id.toLowerCase() as ProposalId)).max(MAX_NAMED),
    ])
    .optional()
    .meta({
      description: `Ids of the proposals to ${what}; \`all\` stands for those that the other list does not name.`,
    });

export const decideBody = z.object({ accept: chosen('accept'), reject: chosen('reject') });

const unitPair = z.object({ source: unitName, version: unitName }).refine(
  ({ source, version }) => {
    const [kind] = source.split(':', 1);
    return version.includes(':') ? version.startsWith(`${kind}:`) : version === source;
  },
  { error: 'Expected two blocks, two images, or the same field.' },
);

export const markBody = z.object({
  units: z
    .union([z.literal('all'), z.array(unitName).min(1).max(MAX_NAMED)])
    .optional()
    .meta({
      description:
        'Units, named as proposals name them; `all` stands for those that both sides have and that are not current.',
    }),
  pairs: z.array(unitPair).min(1).max(MAX_NAMED).optional().meta({
    description:
      "In place of `units`: what belongs together, whatever was paired before; `source` has the source's ids of blocks and images, `version` the version's. Each unit at most once.",
  }),
});

export const markedResponse = z.object({ marked: z.int().describe('Number of units') });

import { z } from 'zod';
import { idOf } from '../../fields.ts';
import type { ArticleId } from '../../ids.ts';

export const attachBody = z.object({
  articleId: idOf<ArticleId>().describe('The article of the project that becomes a version'),
  dryRun: z.boolean().optional().describe('Responds with the pairs, and writes nothing'),
});

export const pairSchema = z
  .object({
    source: z.string().describe("The source's unit"),
    version: z.string().describe("The version's unit, with the version's ids of blocks and images"),
  })
  .meta({ id: 'UnitPair' });

export const attachedResponse = z.object({
  pairs: z
    .array(pairSchema)
    .describe('Units that belong together, as mark-current takes them: fields, blocks in order, images'),
  onlyInSource: z.array(z.string()).describe('Units of the source without a counterpart'),
  onlyInVersion: z.array(z.string()).describe('Units of the version without a counterpart'),
});

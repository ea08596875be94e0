import { z } from 'zod';
import { MAX_META_DESCRIPTION, MAX_META_TITLE } from '../../document/format/limits.ts';

/** The shape of a model's outline. Every key is required. Ids are ours: a model returns none. */

export const outlineOutput = z.object({
  title: z.string().describe('The title of the article.'),
  slug: z.string().describe('The title as lower-case Latin letters and digits, separated by hyphens.'),
  metaTitle: z.string().describe(`At most ${MAX_META_TITLE} characters.`),
  metaDescription: z.string().describe(`At most ${MAX_META_DESCRIPTION} characters.`),
  sections: z.array(
    z.object({
      heading: z.string().describe('Plain text.'),
      level: z.int().describe('2, or 3 for a part of the section of level 2 before it.'),
      purpose: z.string().describe('What the section says, in one or two sentences.'),
      keywords: z.array(z.string()),
      estimatedWords: z.int(),
    }),
  ),
});

export type OutlineOutput = z.output<typeof outlineOutput>;

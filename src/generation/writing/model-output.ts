import { z } from 'zod';
import { MAX_META_DESCRIPTION, MAX_META_TITLE } from '../../document/format/limits.ts';

/** Shapes of model output. Every key is required. Ids are ours: a model returns none. */

const TEXT = 'Plain text or inline Markdown: bold, italic and inline code only. No links, no addresses.';

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

const link = z.object({
  text: z.string().describe('Words of this paragraph, exactly as they stand in it.'),
  article: z.int().describe('The number of a listed article.'),
});

export const sectionOutput = z.object({
  blocks: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('paragraph'), text: z.string().describe(TEXT), links: z.array(link) }),
      z.object({ type: z.literal('heading'), level: z.int(), text: z.string().describe('Plain text.') }),
      z.object({
        type: z.literal('list'),
        ordered: z.boolean(),
        items: z.array(z.string()).describe(`Without bullets and numbers. ${TEXT}`),
      }),
      z.object({ type: z.literal('quote'), text: z.string().describe(TEXT) }),
      z.object({
        type: z.literal('table'),
        header: z.array(z.string()).describe(TEXT),
        rows: z.array(z.array(z.string())).describe('As many cells in each row as in the header.'),
      }),
    ]),
  ),
});

export const faqOutput = z.object({
  questions: z.array(
    z.object({
      question: z.string().describe('Plain text.'),
      answer: z.string().describe(TEXT),
    }),
  ),
});

export type OutlineOutput = z.output<typeof outlineOutput>;
export type SectionOutput = z.output<typeof sectionOutput>;
export type OutputBlock = SectionOutput['blocks'][number];
export type FaqOutput = z.output<typeof faqOutput>;

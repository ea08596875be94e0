import { z } from 'zod';
import { MAX_META_DESCRIPTION, MAX_META_TITLE } from '../../../document/format/limits.ts';
import { strictSchema } from '../../../providers/strict-schema.ts';
import { STRUCTURED_TOKENS } from '../output-tokens.ts';
import type { Asking, Prompt } from './shared.ts';

export const leadOutput = z.object({
  lead: z.string().describe('The lead: one or two paragraphs of text; empty when none is asked for.'),
  title: z.string().describe('The title of the article.'),
  slug: z.string().describe('The title as lower-case Latin letters and digits, separated by hyphens.'),
  metaTitle: z.string().describe(`At most ${MAX_META_TITLE} characters.`),
  metaDescription: z.string().describe(`At most ${MAX_META_DESCRIPTION} characters.`),
});

export type LeadOutput = z.output<typeof leadOutput>;

export interface LeadQuestion extends Asking<'lead'> {
  /** Words of the lead; 0 for none. */
  readonly words: number;
  /** True when title, slug and meta texts are wanted, too. */
  readonly names: boolean;
}

export const leadPrompt: Prompt<LeadQuestion> = {
  version: 3,
  schema: strictSchema(leadOutput),
  tokens: () => STRUCTURED_TOKENS.lead,
  data: ({ words }) => ({ words }),
  task: ({ words, names }) => [
    'The article is finished; the lines above are its text.',
    ...(words === 0
      ? ['It needs no lead: leave `lead` empty.']
      : [
          `Write its \`lead\`, about ${words} words in two to four sentences. It stands before the first heading and is the first thing that is read.`,
          'Start with the subject itself: a scene, a number or a consequence that the text has. Then say what the reader will get. The primary keyword stands in the first two sentences, as a person would write it.',
          'Good: “In July the barrels were empty by Wednesday. What helped was not a bigger barrel but watering half as often, at six in the morning.” “Two of three repairs come back within a year, nearly always for the same reason. This is how to find it before you open the case.” (only where the text has these facts)',
          'Bad: “In today’s fast-paced world, gardening is more important than ever.” “This article explains how to water.” “Have you ever wondered why plants wilt?” “Whether you are a beginner or an expert, read on.”',
          'It repeats no sentence of the text, and has no figure or name that is not in the text. Numbers in brackets in the text name its sources: the lead has none.',
        ]),
    ...(names
      ? [
          'Then name the article by what its text says. `title`: what the text keeps, with the primary keyword, no superlative. `slug`: its words in short. `metaTitle`: the promise in at most 60 characters, the keyword early; it need not be the title. `metaDescription`: 120 to 155 characters: what the reader gets and for whom, with one verb, without “learn more”.',
        ]
      : [
          'Title and meta texts are settled: leave `title`, `slug`, `metaTitle` and `metaDescription` empty.',
        ]),
  ],
};

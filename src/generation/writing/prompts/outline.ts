import { MAX_META_DESCRIPTION, MAX_META_TITLE } from '../../../document/format/limits.ts';
import { strictSchema } from '../../../providers/strict-schema.ts';
import { describeBounds, type SectionBounds } from '../../outline.ts';
import { outlineOutput } from '../model-output.ts';
import { STRUCTURED_TOKENS } from '../output-tokens.ts';
import type { Asking, Prompt } from './shared.ts';

export interface OutlineQuestion extends Asking<'outline'> {
  /** Words of the body. */
  readonly words: number;
  /** Sections it may have. */
  readonly sections: SectionBounds;
}

export const outlinePrompt: Prompt<OutlineQuestion> = {
  version: 1,
  schema: strictSchema(outlineOutput),
  tokens: () => STRUCTURED_TOKENS.outline,
  data: ({ words, sections }) => ({ words, minSections: sections.least, maxSections: sections.most }),
  task: ({ brief, words, sections }) => [
    `Plan an article of ${words} words in ${describeBounds(sections)} sections.`,
    'A section has level 2, or level 3 when it is a part of the section of level 2 before it; the title is not a section. Do not repeat a heading. estimatedWords of all sections add up to the length of the article.',
    ...(brief.config.faq
      ? ['Plan no section of questions and answers: one is added at the end by itself.']
      : []),
    `metaTitle has at most ${MAX_META_TITLE} characters, metaDescription at most ${MAX_META_DESCRIPTION}. The slug has lower-case Latin letters, digits and hyphens only.`,
  ],
};

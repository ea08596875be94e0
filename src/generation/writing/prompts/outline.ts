import { strictSchema } from '../../../providers/strict-schema.ts';
import { describeBounds, type SectionBounds } from '../../outline.ts';
import { describeLength } from '../lengths.ts';
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
  version: 4,
  schema: strictSchema(outlineOutput),
  tokens: () => STRUCTURED_TOKENS.outline,
  data: ({ words, sections }) => ({ words, minSections: sections.least, maxSections: sections.most }),
  task: ({ brief, words, sections }) => [
    `Make the outline of an article of about ${describeLength(words, brief.config.language)} in ${describeBounds(sections)} sections.`,
    brief.title === null
      ? 'The title says what the reader gets, with the primary keyword early, and promises no more than the text keeps.'
      : 'The article has its title already: repeat the `title` of the settings. The sections keep what it promises; where it names a number of things, they are that many.',
    'Choose the shape of its kind. How-to: the result, what is needed, the steps in the order they are done, what goes wrong, how to see that it worked. List: one criterion, entries of one form. Comparison: who needs which, the same points for each, a verdict with its condition. News: what happened, to whom, why it matters, what is not known. Opinion: the claim, the strongest objection, the reply. Product page: the problem of the reader, what changes, proof, the next step.',
    'A section has level 2, or level 3 when it is a part of the section of level 2 before it. The title is not a section. Headings are not interchangeable, and none is repeated.',
    '`purpose` says in one or two sentences of at most 300 characters what the section adds that no other has. `keywords` are up to five that belong to this section. estimatedWords of all sections add up to the length of the article.',
    ...(brief.notes.length === 0
      ? []
      : [
          'Build on `notes`: sections are about what they can show. Plan none whose claims would need figures that no note has.',
        ]),
    ...(brief.config.faq
      ? ['Plan no section of questions and answers: one is added at the end by itself.']
      : []),
    'metaTitle: the promise in at most 60 characters, the keyword early. metaDescription: 120 to 155 characters that say what the reader gets and for whom, with one verb and without “Learn more”. The slug has lower-case Latin letters, digits and hyphens only.',
  ],
};

import { describeLength, lengthData } from '../lengths.ts';
import { textTokens } from '../output-tokens.ts';
import { type Asking, MARKDOWN_ALONE, type Prompt } from './shared.ts';

export interface FaqQuestion extends Asking<'faq'> {
  /** Words of all questions and answers. */
  readonly words: number;
}

export const faqPrompt: Prompt<FaqQuestion> = {
  version: 4,
  schema: null,
  tokens: ({ words, brief }) => textTokens(words, brief.config.language),
  data: ({ words, brief, article }) => ({
    ...lengthData(words, brief.config.language),
    wishes: article?.plan?.generalWishes,
  }),
  task: ({ words, brief }) => [
    'The article is written; its readers still have questions. Choose those that its text leaves open, in the words in which people ask them. None repeats a heading or what a section has explained.',
    'Each answer is one paragraph. Its first sentence answers; the rest gives the reason or the condition. It ends with a whole sentence. A question is a heading of level 3, with its answer below.',
    ...(brief.notes.length === 0
      ? []
      : [
          'Where an answer rests on a note, put the number of the note in brackets before the full stop, as in “… 20 litres a week [3].”',
        ]),
    MARKDOWN_ALONE,
    `Write 3 to 5 such questions with their answers, about ${describeLength(words, brief.config.language)} in all.`,
  ],
};

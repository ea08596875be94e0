import { textTokens } from '../output-tokens.ts';
import { type Asking, MARKDOWN_ALONE, type Prompt } from './shared.ts';

export interface FaqQuestion extends Asking<'faq'> {
  /** Words of all questions and answers. */
  readonly words: number;
}

export const faqPrompt: Prompt<FaqQuestion> = {
  version: 2,
  schema: null,
  tokens: ({ words, brief }) => textTokens(words, brief.config.language),
  data: ({ words }) => ({ words }),
  task: ({ words }) => [
    `Write 3 to 5 questions that readers of the article ask, with their answers, about ${words} words in all.`,
    'Each question is a heading of level 3, its answer one paragraph below that ends with a whole sentence. Repeat no paragraph of the article.',
    MARKDOWN_ALONE,
  ],
};

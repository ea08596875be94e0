import { strictSchema } from '../../../providers/strict-schema.ts';
import { faqOutput } from '../model-output.ts';
import { textTokens } from '../output-tokens.ts';
import type { Asking, Prompt } from './shared.ts';

export interface FaqQuestion extends Asking<'faq'> {
  /** Words of all questions and answers. */
  readonly words: number;
}

export const faqPrompt: Prompt<FaqQuestion> = {
  version: 1,
  schema: strictSchema(faqOutput),
  tokens: ({ words, brief }) => textTokens(words, brief.config.language),
  data: ({ words }) => ({ words }),
  task: ({ words }) => [
    `Write 3 to 5 questions that readers of the article ask, with their answers, about ${words} words in all.`,
    'Each answer is one paragraph that ends with a whole sentence. Repeat no paragraph of the article. Use no Markdown but bold, italic and inline code.',
  ],
};

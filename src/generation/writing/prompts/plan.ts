import { strictSchema } from '../../../providers/strict-schema.ts';
import { STRUCTURED_TOKENS } from '../output-tokens.ts';
import { planOutput } from '../plan.ts';
import type { Asking, Prompt } from './shared.ts';

/** Keywords of a section that are shown, and the characters of each. */
const SHOWN_KEYWORDS = 5;
const SHOWN_CHARACTERS = 60;

export type PlanQuestion = Asking<'plan'>;

export const planPrompt: Prompt<PlanQuestion> = {
  version: 2,
  schema: strictSchema(planOutput),
  tokens: () => STRUCTURED_TOKENS.plan,
  data: ({ article }) => ({
    keywordsOfSections: (article?.outline.sections ?? []).flatMap(({ keywords }, index) => {
      const shown = keywords.slice(0, SHOWN_KEYWORDS).map((keyword) => keyword.slice(0, SHOWN_CHARACTERS));
      return shown.length === 0 ? [] : [{ number: index + 1, keywords: shown }];
    }),
  }),
  task: ({ brief }) => [
    'Plan how this article is written, before its first sentence. Each section is written by itself with your plan in hand, so settle what only one of them can do.',
    'Decide who reads it and what they know, the one question they come with, and the one sentence they can repeat afterwards. Say what the title promises and which section keeps it.',
    'For each section, by its number: what it adds that no other has, with the fact or example that carries it, and what it leaves to the others.',
    'Give each keyword to the section where a reader looks for it, the primary one to the first section and one more. Give each wish of the customer to one place: the opening, one section, the end, or all sections. What the template says of the beginning and the end counts as such a wish.',
    '`opening` is true only when the first section leads into the whole article.',
    ...(brief.notes.length === 0
      ? []
      : ['Say in `adds` which notes carry a section, by their numbers. Each note belongs to one section.']),
    ...(brief.config.faq
      ? ['Questions and answers are added at the end: leave side questions to them.']
      : []),
    'Be brief: at most 300 characters for a section and 6,000 in all. Leave lists empty where there is nothing to say.',
  ],
};

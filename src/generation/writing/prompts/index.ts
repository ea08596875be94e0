/** The prompts by kind of part. A new kind is a file of its own and an entry here. */
import { conversation } from '../../../providers/ask.ts';
import type { ChatMessage } from '../../../providers/chat-model.ts';
import { editsPrompt } from './edits.ts';
import { faqPrompt } from './faq.ts';
import { leadPrompt } from './lead.ts';
import { outlinePrompt } from './outline.ts';
import { sectionPrompt } from './section.ts';
import { type Prompt, systemTurn, userTurn } from './shared.ts';

const PROMPTS = {
  outline: outlinePrompt,
  section: sectionPrompt,
  faq: faqPrompt,
  edits: editsPrompt,
  lead: leadPrompt,
};

/** A question for a writer, of any kind. */
export type Question = {
  [Kind in keyof typeof PROMPTS]: (typeof PROMPTS)[Kind] extends Prompt<infer Asked> ? Asked : never;
}[keyof typeof PROMPTS];

/** The questions of one kind. */
export type QuestionOf<Kind extends Question['kind']> = Extract<Question, { readonly kind: Kind }>;

/** The versions of all prompts: texts written under the same one were asked for in the same words. */
export const PROMPT_VERSION: string = Object.entries(PROMPTS)
  .map(([kind, { version }]) => `${kind} ${version}`)
  .join(', ');

/** A question as a model gets it. */
export interface PromptRequest {
  readonly instructions: string;
  readonly messages: readonly ChatMessage[];
  /** The JSON Schema of the response; null for a text. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  /** Most tokens of the response. */
  readonly tokens: number;
}

/** Puts a question into words (contract.md G39). */
export function requestOf(question: Question): PromptRequest {
  const prompt: Prompt<Question> = PROMPTS[question.kind];
  return {
    instructions: systemTurn(question.brief),
    messages: conversation(
      userTurn(prompt, question),
      question.rejected,
      prompt.schema === null ? 'text' : 'JSON object',
    ),
    schema: prompt.schema,
    tokens: prompt.tokens(question),
  };
}

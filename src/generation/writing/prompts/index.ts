/** The prompts by kind of part. A new kind is a file of its own and an entry here. */
import { conversation } from '../../../providers/ask.ts';
import type { ChatMessage } from '../../../providers/chat-model.ts';
import { MAX_WORDS_PER_SECTION } from '../../outline.ts';
import { outputLimit, type TokenLimits, textTokens } from '../output-tokens.ts';
import { editsPrompt } from './edits.ts';
import { faqPrompt } from './faq.ts';
import { BYTES_PER_TOKEN, bytesOf, shorten } from './fit.ts';
import { leadPrompt } from './lead.ts';
import { outlinePrompt } from './outline.ts';
import { planPrompt } from './plan.ts';
import { sectionPrompt } from './section.ts';
import type { Prompt } from './shared.ts';
import { SYSTEM_VERSION, systemTurn } from './system.ts';
import { userTurn } from './user-turn.ts';

const PROMPTS = {
  outline: outlinePrompt,
  plan: planPrompt,
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
export const PROMPT_VERSION: string = [
  `system ${SYSTEM_VERSION}`,
  ...Object.entries(PROMPTS).map(([kind, { version }]) => `${kind} ${version}`),
].join(', ');

/** A question as a model gets it. */
export interface PromptRequest {
  readonly instructions: string;
  readonly messages: readonly ChatMessage[];
  /** The JSON Schema of the response; null for a text. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  /** Most tokens of the response, thoughts included. */
  readonly maxTokens: number;
}

/** Of the context, the least that is left to a request, however long its response may be. */
const LEAST_ASKED = 2 / 3;
/**
 * Puts a question into words (contract.md G39 and G68): with the response it fits into the model's context. The room for
 * a section is the same in a whole run, so that a server can keep what it has read.
 */
export function requestOf(question: Question, limits: TokenLimits): PromptRequest {
  const { brief, rejected } = question;
  const prompt: Prompt<Question> = PROMPTS[question.kind];
  const { contextTokens } = limits;
  const { language, wordCount } = brief.config;
  const longest = textTokens(Math.min(wordCount, MAX_WORDS_PER_SECTION), language);
  const wanted = outputLimit(prompt.tokens(question), limits);
  const response = Math.max(wanted, outputLimit(longest, limits));
  const asked = Math.floor(Math.max(contextTokens - response, contextTokens * LEAST_ASKED)) * BYTES_PER_TOKEN;
  const instructions = systemTurn(brief);
  const turn = userTurn(prompt, question, asked - bytesOf(instructions));
  const converse = (wrong: typeof rejected) =>
    conversation(turn, wrong, prompt.schema === null ? 'text' : 'JSON object');
  const tokensLeft = (messages: readonly ChatMessage[]): number => {
    const used = messages.reduce((sum, { text }) => sum + bytesOf(text), bytesOf(instructions));
    return contextTokens - Math.ceil(used / BYTES_PER_TOKEN);
  };
  let messages = converse(rejected === undefined ? undefined : { ...rejected, response: null });
  if (rejected?.response != null) {
    // What was rejected is shown as far as it leaves its correction the room.
    const shown = shorten(rejected.response, Math.max(0, tokensLeft(messages) - wanted));
    messages = converse({ ...rejected, response: shown === '…' ? null : shown });
  }
  return {
    instructions,
    messages,
    schema: prompt.schema,
    maxTokens: Math.max(1, Math.min(wanted, tokensLeft(messages))),
  };
}

/** The prompts by kind of part. A new kind is a file of its own and an entry here. */
import { conversation } from '../../../providers/ask.ts';
import type { ChatMessage } from '../../../providers/chat-model.ts';
import { MAX_WORDS_PER_SECTION } from '../../outline.ts';
import { partLengths } from '../../target-lengths.ts';
import { outputLimit, type TokenLimits, textTokens } from '../output-tokens.ts';
import { correctionsPrompt } from './corrections.ts';
import { editsPrompt } from './edits.ts';
import { faqPrompt } from './faq.ts';
import { BYTES_PER_TOKEN, bytesOf, shorten } from './fit.ts';
import { imagePromptsPrompt } from './image-prompts.ts';
import { leadPrompt } from './lead.ts';
import { outlinePrompt } from './outline.ts';
import { planPrompt } from './plan.ts';
import { RESEARCH_VERSIONS, type ResearchQuestion, researchRequest } from './research.ts';
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
  corrections: correctionsPrompt,
  lead: leadPrompt,
  imagePrompts: imagePromptsPrompt,
};

/** A question about an article as it is written. */
type WritingQuestion = {
  [Kind in keyof typeof PROMPTS]: (typeof PROMPTS)[Kind] extends Prompt<infer Asked> ? Asked : never;
}[keyof typeof PROMPTS];

/** A question for a writer, of any kind. */
export type Question = WritingQuestion | ResearchQuestion;

/** The questions of one kind. */
export type QuestionOf<Kind extends Question['kind']> = Extract<Question, { readonly kind: Kind }>;

/** The versions of all prompts: texts written under the same one were asked for in the same words. */
export const PROMPT_VERSION: string = [
  `system ${SYSTEM_VERSION}`,
  ...Object.entries(PROMPTS).map(([kind, { version }]) => `${kind} ${version}`),
  ...Object.entries(RESEARCH_VERSIONS).map(([kind, version]) => `${kind} ${version}`),
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

/** The least that is left to a request, however long its response may be: of the context, and in tokens. */
const LEAST_SHARE = 1 / 2;
const LEAST_TOKENS = 5_300;

/** What a section may be asked for, of its share. */
const MAX_TARGET_RATIO = 1.1;

/** Tokens of the longest text of a run: the same for all its requests. */
function longestText({ brief: { config }, article }: WritingQuestion): number {
  const lengths =
    article === null ? [MAX_WORDS_PER_SECTION] : partLengths({ ...config, lead: 0 }, article.outline);
  return textTokens(Math.ceil(Math.max(...lengths) * MAX_TARGET_RATIO), config.language);
}

/**
 * Puts a question into words (contract.md G39 and G68): with the response it fits into the model's context. The room for
 * a section is the same in a whole run, so that a server can keep what it has read.
 */
export function requestOf(question: Question, limits: TokenLimits): PromptRequest {
  if ('request' in question) return researchRequest(question, limits);
  const { brief, rejected } = question;
  const prompt: Prompt<WritingQuestion> = PROMPTS[question.kind];
  const { contextTokens } = limits;
  const wanted = outputLimit(prompt.tokens(question), limits);
  const response = Math.max(wanted, outputLimit(longestText(question), limits));
  const least = Math.max(LEAST_TOKENS, Math.floor(contextTokens * LEAST_SHARE));
  const asked = Math.max(contextTokens - response, least) * BYTES_PER_TOKEN;
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

import { type ChatTurn, createChatModel } from '../providers/chat-model.ts';
import { strictSchema } from '../providers/strict-schema.ts';
import { ProviderError } from '../providers/types.ts';
import { answerSchemas } from './answers.ts';
import type { Question } from './model-questions.ts';
import { instructionsFor, questionData } from './prompts.ts';
import {
  ModelNotReached,
  type SuggestionProvider,
  type SuggestionRequest,
  UnusableAnswer,
} from './provider.ts';

/** No connection was made, so nothing was sent. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export interface OpenAiCompatibleOptions {
  /** Up to and including the version: `https://host/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Servers on one's own machine need none. */
  readonly apiKey?: string | undefined;
  /** Milliseconds for one question. */
  readonly timeoutMs: number;
}

/** Any model behind an OpenAI-compatible API, asked for a strict object. */
export function createOpenAiCompatibleSuggestions(options: OpenAiCompatibleOptions): SuggestionProvider {
  const model = createChatModel(options);
  return {
    name: 'openai-compatible',
    async answer(request) {
      const { question, signal } = request;
      try {
        const { object, truncated } = await model.ask({
          instructions: instructionsFor(question),
          turns: conversation(request),
          schema: strictSchemas[question.kind],
          signal,
        });
        if (truncated) throw new UnusableAnswer('The answer was cut off at its length limit.');
        if (object === null) throw new UnusableAnswer('The answer was not a JSON object.');
        return object;
      } catch (error) {
        throw error instanceof ProviderError && hasCode(error, NOT_CONNECTED)
          ? new ModelNotReached(error.kind, error.message)
          : error;
      }
    },
  };
}

/** The question; when it is asked again, also the earlier answer and what is wrong with it. */
function conversation({ question, rejected }: SuggestionRequest): ChatTurn[] {
  const asked: ChatTurn = { role: 'user', text: JSON.stringify(questionData(question)) };
  if (rejected === undefined) return [asked];
  return [
    asked,
    ...(rejected.answer === null ? [] : [{ role: 'assistant' as const, text: rejected.answer }]),
    {
      role: 'user',
      text: `That answer cannot be used. Answer again, with the JSON object alone. What is wrong, as data: ${JSON.stringify(rejected.problems)}`,
    },
  ];
}

const strictSchemas = {
  article_categories: strictSchema(answerSchemas.article_categories),
  project_categories: strictSchema(answerSchemas.project_categories),
  category_names: strictSchema(answerSchemas.category_names),
} as const satisfies Record<Question['kind'], unknown>;

/** True when the error or anything behind it carries one of the codes. */
function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string' && codes.has(error.code)) return true;
  const behind = error instanceof AggregateError ? [...error.errors, error.cause] : [error.cause];
  return behind.some((each) => hasCode(each, codes));
}

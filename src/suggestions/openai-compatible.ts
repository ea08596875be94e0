import { conversation } from '../providers/ask.ts';
import { createChatModel } from '../providers/chat-model.ts';
import { strictSchema } from '../providers/strict-schema.ts';
import { ProviderError } from '../providers/types.ts';
import type { Question } from './model-questions.ts';
import { instructionsFor, questionData } from './prompts.ts';
import { ModelNotReached, type SuggestionProvider } from './provider.ts';
import { responseSchemas } from './responses.ts';

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
  /** Local servers need none. */
  readonly apiKey?: string | undefined;
  /** Milliseconds for one request. */
  readonly timeoutMs: number;
}

/** Any model behind an OpenAI-compatible API, with strict structured output. */
export function createOpenAiCompatibleSuggestions(options: OpenAiCompatibleOptions): SuggestionProvider {
  const model = createChatModel(options);
  return {
    name: 'openai-compatible',
    async suggest({ question, rejected, signal }) {
      try {
        return await model.complete({
          instructions: instructionsFor(question),
          messages: conversation(JSON.stringify(questionData(question)), rejected),
          schema: strictSchemas[question.kind],
          signal,
        });
      } catch (error) {
        throw error instanceof ProviderError && hasCode(error, NOT_CONNECTED)
          ? new ModelNotReached(error.kind, error.message)
          : error;
      }
    },
  };
}

const strictSchemas = {
  article_categories: strictSchema(responseSchemas.article_categories),
  project_categories: strictSchema(responseSchemas.project_categories),
  category_names: strictSchema(responseSchemas.category_names),
} as const satisfies Record<Question['kind'], unknown>;

/** True when the error or one of its causes has one of the codes. */
function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string' && codes.has(error.code)) return true;
  const behind = error instanceof AggregateError ? [...error.errors, error.cause] : [error.cause];
  return behind.some((each) => hasCode(each, codes));
}

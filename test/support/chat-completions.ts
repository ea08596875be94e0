import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import type { EngineRequest, EngineResponse } from './engine-server.ts';

/** A request of the chat completions API, as far as the stand-ins look at it. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { role: string; content: string }[];
  readonly response_format: {
    readonly type: string;
    readonly json_schema: {
      readonly strict: boolean;
      readonly schema: {
        readonly required: string[];
        readonly properties: Record<string, { type: string }>;
        readonly additionalProperties: boolean;
      };
    };
  };
}

export const chatRequest = (request: EngineRequest): ChatRequest => JSON.parse(request.body);

/** The texts that are asked for: the first user turn. */
export function askedTexts(request: EngineRequest): Record<string, string> {
  const turn = chatRequest(request).messages.find(({ role }) => role === 'user');
  return JSON.parse(turn?.content ?? '{}');
}

/** A chat completion as servers of this protocol send it. */
export const completion = (
  content: string | null,
  options: { finishReason?: string; refusal?: string } = {},
): EngineResponse => ({
  body: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'stand-in',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content,
          ...(options.refusal === undefined ? {} : { refusal: options.refusal }),
        },
        finish_reason: options.finishReason ?? 'stop',
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
  },
});

/** Translates what is asked for as the pseudo provider does. */
export const pseudoCompletion = (request: EngineRequest): EngineResponse =>
  completion(
    JSON.stringify(
      Object.fromEntries(Object.entries(askedTexts(request)).map(([id, text]) => [id, pseudoLocalize(text)])),
    ),
  );

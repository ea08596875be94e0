import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import type { EngineRequest, EngineResponse } from './engine-server.ts';

/** A request of the chat completions API, as far as the stand-ins look at it. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { role: string; content: string }[];
  /** None where a text is requested. */
  readonly response_format?: {
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

/** What a response has to be made of; nothing where a text is requested. */
export const schemaProperties = (request: EngineRequest): Record<string, { type: string }> =>
  chatRequest(request).response_format?.json_schema.schema.properties ?? {};

/**
 * The texts that are asked for, by id: a user turn is an object that has every id which the answer must have, itself or in
 * its `texts`. None when the question is another.
 */
export function askedTexts(request: EngineRequest): Record<string, string> {
  const { messages, response_format } = chatRequest(request);
  const ids = response_format?.json_schema.schema.required ?? [];
  if (ids.length === 0) return {};
  for (const json of userTurns(messages).flatMap(jsonIn)) {
    const texts = (json as { texts?: unknown } | null)?.texts ?? json;
    if (typeof texts === 'object' && texts !== null && ids.every((id) => Object.hasOwn(texts, id))) {
      return texts as Record<string, string>;
    }
  }
  return {};
}

export const userTurns = (messages: ChatRequest['messages']): string[] =>
  messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));

/** The JSON values of a turn: the whole of it, or else of single lines. */
export function jsonIn(turn: string): unknown[] {
  const whole = parse(turn);
  return whole === undefined ? turn.split('\n').flatMap((line) => parse(line) ?? []) : [whole];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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

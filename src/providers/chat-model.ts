/** Requests a JSON object from a model behind an OpenAI-compatible API. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError } from 'ai';
import { type EngineNames, machineCode, noResponse, statusError } from './http.ts';
import { ProviderError } from './types.ts';

export interface ChatModelOptions {
  /** Such as `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Local servers need none. */
  readonly apiKey?: string | undefined;
  /** Milliseconds for one request. */
  readonly timeoutMs: number;
}

export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export interface ChatRequest {
  readonly instructions: string;
  readonly messages: readonly ChatMessage[];
  /** JSON Schema of the requested object; sent as strict structured output. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

export interface ChatResponse {
  /** The object in the response, unchecked; null when there is none. */
  readonly object: Readonly<Record<string, unknown>> | null;
  /** True when the model stopped at a length limit: the object cannot be trusted, even if it parses. */
  readonly truncated: boolean;
}

export interface ChatModel {
  /** @throws {ProviderError} also `refused` when the model declines; the signal's reason when aborted */
  complete(request: ChatRequest): Promise<ChatResponse>;
}

const NAMES: EngineNames = {
  engine: 'The language model',
  addressVariables: 'AI_BASE_URL and AI_MODEL',
  keyVariable: 'AI_API_KEY',
};

/** A model without retries of its own: the caller decides about them. */
export function createChatModel({ baseUrl, model, apiKey, timeoutMs }: ChatModelOptions): ChatModel {
  const chat = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: baseUrl,
    supportsStructuredOutputs: true,
    ...(apiKey === undefined ? {} : { apiKey }),
  }).chatModel(model);
  return {
    async complete({ instructions, messages, schema, signal }) {
      signal.throwIfAborted();
      const deadline = AbortSignal.timeout(timeoutMs);
      const result = await Promise.resolve(
        chat.doGenerate({
          prompt: [
            { role: 'system', content: instructions },
            ...messages.map(({ role, text }) => ({ role, content: [{ type: 'text' as const, text }] })),
          ],
          responseFormat: { type: 'json', name: 'answer', schema },
          abortSignal: AbortSignal.any([signal, deadline]),
        }),
      ).catch((error: unknown) => {
        throw signal.aborted || deadline.aborted
          ? noResponse(NAMES, error, { timeoutMs, signal, deadline })
          : callError(error, { timeoutMs, signal, deadline, apiKey });
      });
      if (result.finishReason.unified === 'content-filter') throw refusal();
      const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      return { object: findObject(text), truncated: result.finishReason.unified === 'length' };
    },
  };
}

function refusal(): ProviderError {
  return new ProviderError('refused', `${NAMES.engine} declines to work on this text.`);
}

function callError(
  error: unknown,
  call: { timeoutMs: number; signal: AbortSignal; deadline: AbortSignal; apiKey: string | undefined },
): unknown {
  if (!APICallError.isInstance(error)) {
    return new ProviderError('retryable', unreadable(), { cause: error });
  }
  const { statusCode: status, responseHeaders } = error;
  if (status === undefined) return noResponse(NAMES, error, call);
  if (status < 400) return new ProviderError('retryable', unreadable(), { cause: error });
  const code = machineCode(errorCode(error.responseBody), call.apiKey);
  if (code === 'content_filter' || code === 'content_policy_violation') return refusal();
  return statusError(NAMES, { status, headers: new Headers(responseHeaders ?? {}), code });
}

function unreadable(): string {
  return `${NAMES.engine} sent a response that is not a chat completion. If this lasts, check ${NAMES.addressVariables}.`;
}

/** `error.code` or `error.type` of an error response. */
function errorCode(body: string | undefined): unknown {
  const error = parseObject(body ?? '')?.error;
  if (typeof error !== 'object' || error === null) return undefined;
  return ('code' in error && error.code) || ('type' in error && error.type);
}

/** The JSON object in a response, with or without a code fence or words around it. */
function findObject(text: string): Readonly<Record<string, unknown>> | null {
  // Must be linear in white space: derailed models send it without end.
  const fenced = /```(?:json)?([\s\S]*?)```/i.exec(text)?.[1];
  const first = text.indexOf('{');
  const last = text.lastIndexOf('}');
  for (const candidate of [text, fenced, first < last ? text.slice(first, last + 1) : undefined]) {
    const object = candidate === undefined ? null : parseObject(candidate);
    if (object !== null) return object;
  }
  return null;
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

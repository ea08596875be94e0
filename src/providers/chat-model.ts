/** Requests a JSON object from a model behind an OpenAI-compatible API. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError } from 'ai';
import { tenants } from '../tenants.ts';
import { currentShare } from '../threads/share.ts';
import { tracedChat } from './engine-spans.ts';
import { type EngineNames, machineCode, noResponse, statusError } from './http.ts';
import { ProviderError } from './types.ts';

/** Where a model is. */
export interface ModelAddress {
  /** Such as `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Local servers need none. */
  readonly apiKey?: string | undefined;
}

export interface ChatModelOptions extends ModelAddress {
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
  /** JSON Schema of the requested object, sent as strict structured output; without it a text is requested. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** The most tokens of the response; the model's own limit by default. */
  readonly maxTokens?: number;
  readonly signal: AbortSignal;
}

/** Tokens of a call as the model counted them; null for what it does not say. */
export interface TokenUsage {
  readonly input: number | null;
  /** Of the input: what the model had from earlier calls. */
  readonly cached: number | null;
  readonly output: number | null;
  /** Of the output: what it thought before it wrote. */
  readonly reasoning: number | null;
}

export interface ChatResponse {
  /** The object in the response, unchecked; null when there is none, or a text was requested. */
  readonly object: Readonly<Record<string, unknown>> | null;
  /** The text, when that was requested. */
  readonly text?: string;
  /** True when the model stopped at a length limit: the object cannot be trusted, even if it parses. */
  readonly truncated: boolean;
  readonly usage?: TokenUsage;
}

export interface ChatModel {
  /** @throws {ProviderError} also `refused` when the model declines; the signal's reason when aborted */
  complete(request: ChatRequest): Promise<ChatResponse>;
}

export const LANGUAGE_MODEL: EngineNames = {
  engine: 'The language model',
  addressVariables: 'AI_BASE_URL and AI_MODEL',
  keyVariable: 'AI_API_KEY',
};

/** The call of the AI SDK for a request. */
export const callOptions = ({ instructions, messages, schema, maxTokens }: Omit<ChatRequest, 'signal'>) => ({
  prompt: [
    { role: 'system' as const, content: instructions },
    ...messages.map(({ role, text }) => ({ role, content: [{ type: 'text' as const, text }] })),
  ],
  ...(schema === undefined ? {} : { responseFormat: { type: 'json' as const, name: 'answer', schema } }),
  ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
});

/** A model without retries of its own: the caller decides about them. */
export function createChatModel({ baseUrl, model, apiKey, timeoutMs }: ChatModelOptions): ChatModel {
  const chat = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: baseUrl,
    supportsStructuredOutputs: true,
    ...(apiKey === undefined ? {} : { apiKey }),
  }).chatModel(model);
  return {
    complete: ({ signal, ...request }) =>
      tracedChat(model, async () => {
        signal.throwIfAborted();
        const deadline = AbortSignal.timeout(timeoutMs);
        const result = await Promise.resolve(
          chat.doGenerate({ ...callOptions(request), abortSignal: AbortSignal.any([signal, deadline]) }),
        ).catch((error: unknown) => {
          throw signal.aborted || deadline.aborted
            ? noResponse(LANGUAGE_MODEL, error, { timeoutMs, signal, deadline })
            : callError(error, { timeoutMs, signal, deadline, apiKey });
        });
        const { inputTokens, outputTokens } = result.usage;
        tenants.count(currentShare().of, 'tokens', (inputTokens.total ?? 0) + (outputTokens.total ?? 0));
        const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
        return readCompletion(text, result.finishReason.unified, request);
      }),
  };
}

/** The response of a model that has ended it. @throws {ProviderError} `refused` when the model declines */
export function readCompletion(
  text: string,
  finishReason: string,
  { schema }: Pick<ChatRequest, 'schema'>,
): ChatResponse {
  if (finishReason === 'content-filter') throw refusal();
  const truncated = finishReason === 'length';
  return schema === undefined ? { object: null, text, truncated } : { object: findObject(text), truncated };
}

function refusal({ engine }: EngineNames = LANGUAGE_MODEL): ProviderError {
  return new ProviderError('refused', `${engine} declines to work on this text.`);
}

function callError(
  error: unknown,
  call: { timeoutMs: number; signal: AbortSignal; deadline: AbortSignal; apiKey: string | undefined },
): unknown {
  const refused = errorResponse(error, call.apiKey);
  if (refused !== null) return refused;
  return APICallError.isInstance(error) && error.statusCode === undefined
    ? noResponse(LANGUAGE_MODEL, error, call)
    : new ProviderError('retryable', UNREADABLE, { cause: error });
}

const UNREADABLE = `${LANGUAGE_MODEL.engine} sent a response that is not a chat completion. If this lasts, check ${LANGUAGE_MODEL.addressVariables}.`;

/** The error of a response whose status says that the request was not accepted; null for any other. */
export function errorResponse(
  error: unknown,
  apiKey: string | undefined,
  names: EngineNames = LANGUAGE_MODEL,
): ProviderError | null {
  if (!APICallError.isInstance(error)) return null;
  const { statusCode: status, responseHeaders, responseBody } = error;
  if (status === undefined || status < 400) return null;
  const code = machineCode(errorCode(parseObject(responseBody ?? '')?.error), apiKey);
  if (isDeclined(code)) return refusal(names);
  return statusError(names, { status, headers: new Headers(responseHeaders ?? {}), code });
}

/** The error in the middle of a stream. */
export function declined(error: unknown): ProviderError | null {
  return isDeclined(errorCode(error)) ? refusal() : null;
}

/** Codes of content that a model declines. */
const DECLINED = new Set([
  'content_filter',
  'content_policy_violation',
  'contentFilter',
  'moderation_blocked',
  'ResponsibleAIPolicyViolation',
]);

const isDeclined = (code: unknown): boolean => typeof code === 'string' && DECLINED.has(code);

/** `code` or `type` of an error object. */
function errorCode(error: unknown): unknown {
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

/** Requests a response from a model as a stream of tokens, and ends a call that stalls. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError } from 'ai';
import {
  type ChatModel,
  type ChatResponse,
  callOptions,
  declined,
  errorResponse,
  LANGUAGE_MODEL,
  type ModelAddress,
  readCompletion,
  type TokenUsage,
} from './chat-model.ts';
import { tracedChat } from './engine-spans.ts';
import { wasRequestWritten } from './http.ts';
import { ProviderError } from './types.ts';

/** How long a call may take, in milliseconds. */
export interface StreamLimits {
  /** Silence before the text begins. Each token of what a model thinks aloud begins it again. */
  readonly firstTokenMs: number;
  /** Silence within the text. */
  readonly silenceMs: number;
  /** The whole call. */
  readonly totalMs: number;
}

/** Characters after which a response counts as cut off, whatever length was requested. */
const MAX_CHARACTERS = 1_000_000;
const MAX_COUNT = 1_000_000_000;
/** The older and the newer name of the bound on a response. */
const MAX_TOKENS = 'max_tokens';
const MAX_COMPLETION_TOKENS = 'max_completion_tokens';

/**
 * A model without retries of its own, that streams (contract.md G77). A response that stalls, breaks off or has no end is an
 * `unanswered` error.
 */
export function createStreamedModel({
  baseUrl,
  model,
  apiKey,
  limits,
}: ModelAddress & { readonly limits: StreamLimits }): ChatModel {
  let limitName = MAX_TOKENS;
  const chat = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: baseUrl,
    supportsStructuredOutputs: true,
    includeUsage: true,
    transformRequestBody: ({ max_tokens, ...body }) =>
      max_tokens === undefined ? body : { ...body, [limitName]: max_tokens },
    ...(apiKey === undefined ? {} : { apiKey }),
  }).chatModel(model);

  const call = async (
    request: Parameters<typeof callOptions>[0],
    clock: Clock,
    signal: AbortSignal,
  ): Promise<ChatResponse> => {
    const { stream } = await chat.doStream({
      ...callOptions(request),
      abortSignal: AbortSignal.any([signal, clock.signal]),
    });
    let text = '';
    for await (const part of stream) {
      if (part.type === 'error') throw declined(part.error) ?? part.error;
      if (part.type === 'reasoning-delta') clock.thinks();
      if (part.type === 'text-delta') {
        clock.writes();
        text += part.delta;
        if (text.length > MAX_CHARACTERS) return { object: null, truncated: true };
      }
      if (part.type === 'finish') {
        const { inputTokens: input, outputTokens: output } = part.usage;
        const usage: TokenUsage = {
          input: tokens(input.total),
          cached: tokens(input.cacheRead),
          output: tokens(output.total),
          reasoning: tokens(output.reasoning),
        };
        return { ...readCompletion(text, part.finishReason.unified, request), usage };
      }
    }
    throw new Error('a stream without an end');
  };

  return {
    complete: ({ signal, ...request }) =>
      tracedChat(model, async () => {
        signal.throwIfAborted();
        const clock = startClock(limits);
        try {
          return await call(request, clock, signal).catch((error: unknown) => {
            if (limitName === MAX_COMPLETION_TOKENS || !asksForOtherName(error)) throw error;
            limitName = MAX_COMPLETION_TOKENS;
            return call(request, clock, signal);
          });
        } catch (error) {
          if (signal.aborted) throw signal.reason;
          if (clock.signal.aborted) throw unanswered(clock.signal.reason, error);
          if (error instanceof ProviderError) throw error;
          throw errorResponse(error, apiKey) ?? failure(error);
        } finally {
          clock.stop();
        }
      }),
  };
}

/** A number of tokens, as sent; null for anything that cannot be one. */
const tokens = (count: number | undefined): number | null =>
  Number.isInteger(count) && count !== undefined && count >= 0 && count <= MAX_COUNT ? count : null;

/** OpenAI's thinking models refuse `max_tokens` and name its successor. */
const asksForOtherName = (error: unknown): boolean =>
  APICallError.isInstance(error) &&
  error.statusCode === 400 &&
  error.responseBody?.includes(MAX_COMPLETION_TOKENS) === true;

function failure(error: unknown): ProviderError {
  if (!wasRequestWritten(error)) {
    const message = `${LANGUAGE_MODEL.engine} could not be reached. If this lasts, check ${LANGUAGE_MODEL.addressVariables}.`;
    return new ProviderError('retryable', message, { cause: error });
  }
  const message = `${LANGUAGE_MODEL.engine} did not send a whole response. If this lasts, check ${LANGUAGE_MODEL.addressVariables}.`;
  return unanswered(message, error);
}

const unanswered = (message: string, cause: unknown): ProviderError =>
  new ProviderError('retryable', message, { unanswered: true, cause });

interface Clock {
  /** Aborted when the call has to end; its reason is the message. */
  readonly signal: AbortSignal;
  /** The model has sent a token of its thoughts. */
  thinks(): void;
  /** The model has sent a token of the text. */
  writes(): void;
  stop(): void;
}

function startClock({ firstTokenMs, silenceMs, totalMs }: StreamLimits): Clock {
  const controller = new AbortController();
  const endAfter = (ms: number, what: string) =>
    setTimeout(() => controller.abort(`${LANGUAGE_MODEL.engine} ${what} ${ms / 1_000} s.`), ms);
  const total = endAfter(totalMs, 'did not end its response within');
  let isWriting = false;
  let silence = endAfter(firstTokenMs, 'sent no text for');
  return {
    signal: controller.signal,
    thinks() {
      silence.refresh();
    },
    writes() {
      if (isWriting) {
        silence.refresh();
        return;
      }
      isWriting = true;
      clearTimeout(silence);
      silence = endAfter(silenceMs, 'stopped in the middle of its response for');
    },
    stop() {
      clearTimeout(total);
      clearTimeout(silence);
    },
  };
}

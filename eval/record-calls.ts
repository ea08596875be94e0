import type { TokenLimits } from '../src/generation/writing/output-tokens.ts';
import { type PromptRequest, requestOf } from '../src/generation/writing/prompts/index.ts';
import type { ArticleWriter } from '../src/generation/writing/writer.ts';
import type { TokenUsage } from '../src/providers/chat-model.ts';
import { ProviderError } from '../src/providers/types.ts';

/** A call of a writer, with what it was sent. */
export interface RecordedCall {
  readonly kind: string;
  readonly request: PromptRequest;
  /** What was wrong with the response before, when this call asks to correct it. */
  readonly repairs: readonly string[];
  readonly ms: number;
  readonly usage: TokenUsage | undefined;
  /** Why it failed; null for one with a response. */
  readonly failure: string | null;
}

export interface RecordingOptions {
  readonly limits: TokenLimits;
  /** Most calls; one more fails the article. */
  readonly maxCalls: number;
  readonly onCall: (call: RecordedCall) => void;
}

/** Wraps a writer, so that each of its calls is recorded and their number has a bound. */
export function recordCalls(writer: ArticleWriter, options: RecordingOptions): ArticleWriter {
  const { limits, maxCalls, onCall } = options;
  let made = 0;
  return {
    ...writer,
    async ask(question) {
      made += 1;
      if (made > maxCalls)
        throw new ProviderError('unavailable', `More than ${maxCalls} calls for one article.`);
      const begun = performance.now();
      const call = {
        kind: question.kind,
        request: requestOf(question, limits),
        repairs: question.rejected?.defects.map(({ problem }) => problem) ?? [],
      };
      const end = (usage: TokenUsage | undefined, failure: string | null) =>
        onCall({ ...call, ms: performance.now() - begun, usage, failure });
      try {
        const response = await writer.ask(question);
        end(response.usage, null);
        return response;
      } catch (error) {
        end(undefined, error instanceof Error ? error.message : String(error));
        throw error;
      }
    },
  };
}

import type { ModelAddress } from '../../providers/chat-model.ts';
import { createStreamedModel, type StreamLimits } from '../../providers/streamed-model.ts';
import type { TokenLimits } from './output-tokens.ts';
import { requestOf } from './prompts/index.ts';
import type { ArticleWriter } from './writer.ts';

export interface WriterOptions extends ModelAddress {
  readonly limits: StreamLimits;
  readonly tokens: TokenLimits;
}

/** A writer for models behind an OpenAI-compatible API; structured responses have strict JSON schemas. */
export function createOpenAiCompatibleWriter({ tokens, ...options }: WriterOptions): ArticleWriter {
  const model = createStreamedModel(options);
  return {
    name: 'openai-compatible',
    model: options.model,
    contextTokens: tokens.contextTokens,
    async ask(question) {
      const { schema, ...request } = requestOf(question, tokens);
      return model.complete({
        ...request,
        ...(schema === null ? {} : { schema }),
        signal: question.signal,
      });
    },
  };
}

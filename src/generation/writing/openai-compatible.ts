import { conversation, type RejectedResponse } from '../../providers/ask.ts';
import type { ChatResponse, ModelAddress } from '../../providers/chat-model.ts';
import { createStreamedModel, type StreamLimits } from '../../providers/streamed-model.ts';
import { strictSchema } from '../../providers/strict-schema.ts';
import { outlineOutput } from './model-output.ts';
import { outputLimit, STRUCTURED_TOKENS, type TokenLimits, textTokens } from './output-tokens.ts';
import {
  faqData,
  faqInstructions,
  outlineData,
  outlineInstructions,
  sectionData,
  sectionInstructions,
} from './prompts.ts';
import type { ArticleWriter, WritingBrief } from './writer.ts';

const OUTLINE_SCHEMA = strictSchema(outlineOutput);

export interface WriterOptions extends ModelAddress {
  readonly limits: StreamLimits;
  readonly tokens: TokenLimits;
}

interface Asked {
  /** None for a text. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly instructions: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Tokens of the response. */
  readonly tokens: number;
}

/** A writer for models behind an OpenAI-compatible API: the outline is strict JSON, texts are Markdown. */
export function createOpenAiCompatibleWriter({ tokens: bounds, ...options }: WriterOptions): ArticleWriter {
  const model = createStreamedModel(options);
  const ask = (
    { schema, instructions, data, tokens }: Asked,
    { signal, rejected }: { readonly signal: AbortSignal; readonly rejected?: RejectedResponse | undefined },
  ): Promise<ChatResponse> =>
    model.complete({
      instructions,
      messages: conversation(data, rejected, schema === undefined ? 'text' : 'JSON object'),
      ...(schema === undefined ? {} : { schema }),
      maxTokens: outputLimit(tokens, bounds),
      signal,
    });
  const ofText = ({ words, brief }: { words: number; brief: WritingBrief }): number =>
    textTokens(words, brief.config.language);
  return {
    name: 'openai-compatible',
    model: options.model,
    outline: (question) =>
      ask(
        {
          schema: OUTLINE_SCHEMA,
          instructions: outlineInstructions(question),
          data: outlineData(question),
          tokens: STRUCTURED_TOKENS.outline,
        },
        question,
      ),
    section: (question) =>
      ask(
        {
          instructions: sectionInstructions(question),
          data: sectionData(question),
          tokens: ofText(question),
        },
        question,
      ),
    faq: (question) =>
      ask(
        { instructions: faqInstructions(question), data: faqData(question), tokens: ofText(question) },
        question,
      ),
  };
}

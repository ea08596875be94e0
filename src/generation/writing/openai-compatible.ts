import { conversation, type RejectedResponse } from '../../providers/ask.ts';
import { type ChatModelOptions, type ChatResponse, createChatModel } from '../../providers/chat-model.ts';
import { strictSchema } from '../../providers/strict-schema.ts';
import { faqOutput, outlineOutput, sectionOutput } from './model-output.ts';
import {
  faqData,
  faqInstructions,
  outlineData,
  outlineInstructions,
  sectionData,
  sectionInstructions,
} from './prompts.ts';
import type { ArticleWriter } from './writer.ts';

const schemas = {
  outline: strictSchema(outlineOutput),
  section: strictSchema(sectionOutput),
  faq: strictSchema(faqOutput),
} as const;

/** A writer for models behind an OpenAI-compatible API, with strict JSON schemas. */
export function createOpenAiCompatibleWriter(options: ChatModelOptions): ArticleWriter {
  const model = createChatModel(options);
  const ask = (
    what: keyof typeof schemas,
    instructions: string,
    data: Readonly<Record<string, unknown>>,
    { signal, rejected }: { readonly signal: AbortSignal; readonly rejected?: RejectedResponse | undefined },
  ): Promise<ChatResponse> =>
    model.complete({ instructions, messages: conversation(data, rejected), schema: schemas[what], signal });
  return {
    name: 'openai-compatible',
    outline: (question) => ask('outline', outlineInstructions(question), outlineData(question), question),
    section: (question) => ask('section', sectionInstructions(question), sectionData(question), question),
    faq: (question) => ask('faq', faqInstructions(question), faqData(question), question),
  };
}

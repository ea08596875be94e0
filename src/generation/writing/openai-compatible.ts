import {
  type ChatAnswer,
  type ChatModelOptions,
  type ChatTurn,
  createChatModel,
} from '../../providers/chat-model.ts';
import { strictSchema } from '../../providers/strict-schema.ts';
import { faqAnswer, outlineAnswer, sectionAnswer } from './answers.ts';
import {
  faqData,
  faqInstructions,
  outlineData,
  outlineInstructions,
  sectionData,
  sectionInstructions,
} from './prompts.ts';
import type { ArticleWriter, RejectedAnswer } from './writer.ts';

const schemas = {
  outline: strictSchema(outlineAnswer),
  section: strictSchema(sectionAnswer),
  faq: strictSchema(faqAnswer),
} as const;

/** Any model behind an OpenAI-compatible API, asked for strict objects. */
export function createOpenAiCompatibleWriter(options: ChatModelOptions): ArticleWriter {
  const model = createChatModel(options);
  const ask = (
    what: keyof typeof schemas,
    instructions: string,
    data: Readonly<Record<string, unknown>>,
    { signal, rejected }: { readonly signal: AbortSignal; readonly rejected?: RejectedAnswer },
  ): Promise<ChatAnswer> =>
    model.ask({ instructions, turns: conversation(data, rejected), schema: schemas[what], signal });
  return {
    name: 'openai-compatible',
    outline: (question) => ask('outline', outlineInstructions(question), outlineData(question), question),
    section: (question) => ask('section', sectionInstructions(question), sectionData(question), question),
    faq: (question) => ask('faq', faqInstructions(question), faqData(question), question),
  };
}

/** The data; when it is asked again, also the earlier answer and what is wrong with it. */
function conversation(
  data: Readonly<Record<string, unknown>>,
  rejected: RejectedAnswer | undefined,
): ChatTurn[] {
  const asked: ChatTurn = { role: 'user', text: JSON.stringify(data) };
  if (rejected === undefined) return [asked];
  const defects = rejected.defects.map(({ problem, given }) => ({ problem, given }));
  return [
    asked,
    ...(rejected.answer === null ? [] : [{ role: 'assistant' as const, text: rejected.answer }]),
    {
      role: 'user',
      text: `That answer cannot be used. Answer again, with the whole JSON object alone. What is wrong, as data: ${JSON.stringify(defects)}`,
    },
  ];
}

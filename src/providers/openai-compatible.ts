import { readDecisions, type StyleSheet } from '../document/translation/style-sheet.ts';
import { type ChatModelOptions, createChatModel } from './chat-model.ts';
import { DRAW_STYLE_SHEET } from './prompts/style-sheet.ts';
import {
  nameTexts,
  PROMPT_EDITION,
  strictObject,
  styleSheetMessage,
  styleSheetSchema,
  translatingInstructions,
  translatingMessages,
} from './prompts.ts';
import {
  ProviderError,
  type StyleSheetRequest,
  type TermPair,
  type TranslationProvider,
  type TranslationRequest,
} from './types.ts';

/**
 * Any model behind an OpenAI-compatible API. Every segment is a required key of a strict object, so that the model's own
 * schema enforcement rejects missing or invented ones.
 */
export function createOpenAiCompatibleProvider(options: ChatModelOptions): TranslationProvider {
  const model = createChatModel(options);
  const translate = async (request: TranslationRequest): Promise<Map<string, string>> => {
    const { segments, signal } = request;
    const names = nameTexts(segments);
    const { object, truncated } = await model.complete({
      instructions: translatingInstructions(request),
      messages: translatingMessages(request, names),
      schema: strictObject(Object.fromEntries([...names.values()].map((name) => [name, { type: 'string' }]))),
      signal,
    });
    if (!truncated) return pickTexts(object, names);
    if (segments.length === 1) {
      throw new ProviderError(
        'unusable',
        'The translation of a text exceeds the output limit of the language model. Shorten the longest paragraph, or choose another AI_MODEL.',
      );
    }
    const half = Math.ceil(segments.length / 2);
    const parts = [segments.slice(0, half), segments.slice(half)];
    const translations: [string, string][] = [];
    for (const part of parts) translations.push(...(await translate({ ...request, segments: part })));
    return new Map(translations);
  };
  const styleSheet = async (request: StyleSheetRequest): Promise<StyleSheet> => {
    const { object } = await model.complete({
      instructions: DRAW_STYLE_SHEET.instructions(request),
      messages: [styleSheetMessage(request)],
      schema: styleSheetSchema(request.targetLanguage),
      signal: request.signal,
    });
    return { ...readDecisions(object ?? {}, request.targetLanguage), terms: pickPairs(object?.terms) };
  };
  return {
    name: 'openai-compatible',
    goesByVersion: true,
    edition: `${options.model} ${PROMPT_EDITION}`,
    translate,
    styleSheet,
  };
}

/** The texts by id; a value that is not a text counts as missing. */
function pickTexts(
  object: Readonly<Record<string, unknown>> | null,
  names: ReadonlyMap<string, string>,
): Map<string, string> {
  const texts = new Map<string, string>();
  if (object === null) return texts;
  for (const [id, name] of names) {
    const text = Object.hasOwn(object, name) ? object[name] : undefined;
    if (typeof text === 'string') texts.set(id, text);
  }
  return texts;
}

/** The valid pairs of a list. */
function pickPairs(list: unknown): TermPair[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((pair: unknown) => {
    const { source, target } = (pair ?? {}) as Record<string, unknown>;
    return typeof source === 'string' && typeof target === 'string' ? [{ source, target }] : [];
  });
}

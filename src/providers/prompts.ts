/**
 * Prompts for translation. Instructions depend only on the pair of languages: all text from customers and models is data
 * in the user's turn. The turn begins with `about`, identical in all requests of a job, so that servers can cache it.
 */
import { addressOf, DECISIONS, type Decision, valuesFor } from '../document/translation/style-sheet.ts';
import type { ChatMessage } from './chat-model.ts';
import { REPAIR } from './prompts/repair.ts';
import type { Languages } from './prompts/shared.ts';
import { TRANSLATE } from './prompts/translate.ts';
import type {
  InVersion,
  JobContext,
  Placeholders,
  StyleSheetRequest,
  TranslationRequest,
  TranslationText,
} from './types.ts';

/** The instructions for a translation, and for its repairs. */
export const translatingInstructions = (languages: Languages): string =>
  [TRANSLATE, REPAIR].map(({ instructions }) => instructions(languages)).join('\n');

/** The versions of the instructions. */
export const PROMPT_EDITION = `${TRANSLATE.version}.${REPAIR.version}`;

/** What a model sends where it decides nothing. */
const USUAL = 'usual';

/** JSON Schema of a style sheet: terms, and of each decision the values that the language can have. */
export const styleSheetSchema = (language: string): Record<string, unknown> =>
  strictObject({
    ...Object.fromEntries(
      DECISIONS.map((decision) => [
        decision,
        { type: 'string', enum: [USUAL, ...valuesFor(decision, language)] },
      ]),
    ),
    terms: {
      type: 'array',
      items: strictObject({ source: { type: 'string' }, target: { type: 'string' } }),
    },
  });

/** All properties required, no others: the subset of JSON Schema that every strict mode accepts. */
export function strictObject(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** The context for a model, without empty fields. */
function about({ title, outline, style, glossary, sheet, versionTitle }: JobContext, isAddressOpen = false) {
  const instructions = style?.instructions ?? null;
  const decided = DECISIONS.flatMap((decision): [Decision, string][] => {
    if (decision === 'address') return isAddressOpen ? [] : [[decision, addressOf({ style, sheet })]];
    const value = sheet?.[decision] ?? null;
    return value === null ? [] : [[decision, value]];
  });
  const terms = sheet?.terms ?? [];
  return {
    title,
    ...(versionTitle === undefined ? {} : { versionTitle }),
    ...(outline.length > 0 ? { outline } : {}),
    style: { ...Object.fromEntries(decided), ...(instructions === null ? {} : { instructions }) },
    ...(glossary.length > 0 ? { glossary: glossary.map(({ source, target }) => ({ source, target })) } : {}),
    ...(terms.length > 0 ? { terms: terms.map(({ source, target }) => ({ source, target })) } : {}),
  };
}

/** The one message that requests a style sheet. It decides the address where neither project nor earlier sheet has. */
export function styleSheetMessage({ context, texts, limit }: StyleSheetRequest): ChatMessage {
  const isOpen = context.sheet === null && (context.style?.formality ?? null) === null;
  return { role: 'user', text: JSON.stringify({ about: about(context, isOpen), texts, limit }) };
}

/**
 * Names the texts of a request by kind and position. A title or meta text is unique and is named by its kind alone.
 */
export const nameTexts = (texts: readonly TranslationText[]): Map<string, string> =>
  new Map(
    texts.map(({ id, kind }, place) => [
      id,
      ['title', 'metaTitle', 'metaDescription'].includes(kind) ? kind : `${kind}.${place + 1}`,
    ]),
  );

/** What the empty tags of a request's texts stand for, by the texts' names; empty when there is nothing to know. */
export function namedPlaceholders(
  segments: readonly TranslationText[],
  names: ReadonlyMap<string, string>,
): { readonly placeholders?: Readonly<Record<string, Placeholders>> } {
  const entries = segments.flatMap(({ id, placeholders }) =>
    placeholders === undefined ? [] : [[names.get(id) ?? id, placeholders] as const],
  );
  return entries.length === 0 ? {} : { placeholders: Object.fromEntries(entries) };
}

/** What a version has in the place of a request's texts, by their names; empty when it has nothing. */
export function namedVersion(
  segments: readonly TranslationText[],
  names: ReadonlyMap<string, string>,
): { readonly version?: Readonly<Record<string, InVersion>> } {
  const entries = segments.flatMap(({ id, inVersion }) =>
    inVersion === undefined ? [] : [[names.get(id) ?? id, inVersion] as const],
  );
  return entries.length === 0 ? {} : { version: Object.fromEntries(entries) };
}

/** The messages of a request: the texts, and for a repair also the earlier translations with their defects. */
export function translatingMessages(
  { segments, repair = [], context, translated, around }: TranslationRequest,
  names: ReadonlyMap<string, string>,
): ChatMessage[] {
  const nameOf = (id: string): string => names.get(id) ?? id;
  const question = {
    ...(context === undefined ? {} : { about: about(context) }),
    ...(translated === undefined ? {} : { translated }),
    ...(around === undefined ? {} : { around }),
    ...namedPlaceholders(segments, names),
    ...namedVersion(segments, names),
    texts: Object.fromEntries(segments.map(({ id, text }) => [nameOf(id), text])),
  };
  const messages: ChatMessage[] = [{ role: 'user', text: JSON.stringify(question) }];
  const notes = repair.filter(({ id }) => names.has(id));
  if (notes.length === 0) return messages;
  const previous = notes.flatMap(({ id, previous }) => (previous === null ? [] : [[nameOf(id), previous]]));
  const defects = Object.fromEntries(notes.map(({ id, defects }) => [nameOf(id), defects]));
  return [
    ...messages,
    { role: 'assistant', text: JSON.stringify(Object.fromEntries(previous)) },
    { role: 'user', text: JSON.stringify({ defects }) },
  ];
}

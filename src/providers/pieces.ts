/** Repair for engines that take no corrections: translates the text between the tags piece by piece. */
import { parseTags, serializeTags, type TagContent, tagText } from '../document/translation/tags.ts';
import type { TranslationRequest, TranslationText } from './types.ts';

/** Translates XML texts; returns the translations in the same order. */
type TranslateTexts = (texts: readonly string[]) => Promise<readonly string[]>;

/** Translates the segments of a request: whole at first, piece by piece for a repair. */
export async function translateTexts(
  { segments, repair }: Pick<TranslationRequest, 'segments' | 'repair'>,
  translate: TranslateTexts,
): Promise<Map<string, string>> {
  if (repair !== undefined) return translatePieces(segments, translate);
  const translations = await translate(segments.map(({ text }) => text));
  return new Map(segments.map(({ id }, index) => [id, translations[index] ?? '']));
}

/**
 * Translates each piece of text between tags separately, so that all tags are preserved. Word order cannot change across
 * pieces, so this is only the fallback.
 */
export async function translatePieces(
  segments: readonly TranslationText[],
  translate: TranslateTexts,
): Promise<Map<string, string>> {
  const trees = segments.map(({ id, text }) => ({ id, nodes: parsed(text) }));
  const pieces = trees.flatMap(({ nodes }) => [...eachPiece(nodes)]);
  const responses = pieces.length === 0 ? [] : await translate(pieces.map((piece) => serializeTags([piece])));
  const translations = new Map(pieces.map((piece, index) => [piece, plain(responses[index] ?? '')]));
  const replace = (nodes: readonly TagContent[]): TagContent[] =>
    nodes.map((node) => {
      if (typeof node !== 'string') return { ...node, children: replace(node.children) };
      const core = node.trim();
      const translation = translations.get(core)?.trim();
      return translation ? node.replace(core, () => translation) : node;
    });
  return new Map(trees.map(({ id, nodes }) => [id, serializeTags(replace(nodes))]));
}

function parsed(markup: string): TagContent[] {
  const result = parseTags(markup);
  if (!result.ok) throw new Error(`segment is not valid markup: ${result.problem}`);
  return result.nodes;
}

/** The pieces with a letter, trimmed. */
function* eachPiece(nodes: readonly TagContent[]): Generator<string> {
  for (const node of nodes) {
    if (typeof node !== 'string') yield* eachPiece(node.children);
    else if (/\p{L}/u.test(node)) yield node.trim();
  }
}

/** A response as plain text, without any tags. */
function plain(response: string): string {
  const result = parseTags(response);
  return result.ok ? tagText(result.nodes) : response;
}

/** What engines have in common that cannot be given corrections: asked again, they get the stretches between the tags. */
import { parseTags, serializeTags, type TagContent, tagText } from '../document/translation/tags.ts';
import type { TranslationRequest, TranslationText } from './types.ts';

/** Translates texts in XML, whole or the stretches between their tags; answers in the same order. */
type TranslateTexts = (texts: readonly string[]) => Promise<readonly string[]>;

/** Translates the segments of a request: whole, and by their pieces when that did not do. */
export async function translateTexts(
  { segments, repair }: Pick<TranslationRequest, 'segments' | 'repair'>,
  translate: TranslateTexts,
): Promise<Map<string, string>> {
  if (repair !== undefined) return translatePieces(segments, translate);
  const translations = await translate(segments.map(({ text }) => text));
  return new Map(segments.map(({ id }, index) => [id, translations[index] ?? '']));
}

/**
 * Translates every stretch of text of the segments by itself, so that all tags come back as they were, whatever the
 * engine does. Word order then stays within each stretch, which is why it is not the first way.
 */
export async function translatePieces(
  segments: readonly TranslationText[],
  translate: TranslateTexts,
): Promise<Map<string, string>> {
  const trees = segments.map(({ id, text }) => ({ id, nodes: parsed(text) }));
  const pieces = trees.flatMap(({ nodes }) => [...eachPiece(nodes)]);
  const answers = pieces.length === 0 ? [] : await translate(pieces.map((piece) => serializeTags([piece])));
  const translations = new Map(pieces.map((piece, index) => [piece, plain(answers[index] ?? '')]));
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

/** The stretches that hold a letter, without the white space around them. */
function* eachPiece(nodes: readonly TagContent[]): Generator<string> {
  for (const node of nodes) {
    if (typeof node !== 'string') yield* eachPiece(node.children);
    else if (/\p{L}/u.test(node)) yield node.trim();
  }
}

/** An answer as text. What looks like a tag in it is not one of ours. */
function plain(answer: string): string {
  const result = parseTags(answer);
  return result.ok ? tagText(result.nodes) : answer;
}

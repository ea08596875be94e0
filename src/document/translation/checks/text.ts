/** Texts and language tags for the checks. */
import { parseTags, type TagContent } from '../tags.ts';

/** The plain text of a protected text; untouchable parts become spaces. Empty when the markup is broken. */
export function wordsOf(markup: string): string {
  const parsed = parseTags(markup);
  const read = (nodes: readonly TagContent[]): string =>
    nodes
      .map((node) => (typeof node === 'string' ? node : node.tag === 'x' ? ' ' : read(node.children)))
      .join('');
  return parsed.ok ? read(parsed.nodes).trim() : '';
}

/** `en` of `en-GB`. */
export const baseLanguage = (tag: string): string => tag.split('-', 1).join('').toLowerCase();

/** True for two variants of one language. */
export const isSameLanguage = (one: string, other: string): boolean =>
  baseLanguage(one) === baseLanguage(other);

/** Texts as the checks read them. */
import { parseTags, type TagContent } from '../tags.ts';

/** The words of a text in protected form: what is untouchable stands as a space. Empty when the markup is broken. */
export function wordsOf(markup: string): string {
  const parsed = parseTags(markup);
  const read = (nodes: readonly TagContent[]): string =>
    nodes
      .map((node) => (typeof node === 'string' ? node : node.tag === 'x' ? ' ' : read(node.children)))
      .join('');
  return parsed.ok ? read(parsed.nodes).trim() : '';
}

/** Without case, accents and vowel signs, so that written forms of a word are equal. */
export const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{Mn}+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');

/** `en` of `en-GB`. */
export const baseLanguage = (tag: string): string => tag.split('-', 1).join('').toLowerCase();

/** True for two variants of one language. */
export const isSameLanguage = (one: string, other: string): boolean =>
  baseLanguage(one) === baseLanguage(other);

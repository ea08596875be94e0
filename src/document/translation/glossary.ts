/** Selects the glossary terms that occur in texts. */
import { indexTerms, type Term } from '../text/term-index.ts';
import { plainText } from './tags.ts';

/** The most terms sent with an article. */
export const MAX_OCCURRING = 200;

/**
 * The terms that occur in the texts (plain or protected form), in their own order. When there are more than
 * `MAX_OCCURRING`, those in the first texts win. Too slow on the event loop for a whole article: see `glossaryIn`.
 */
export function occurringTerms<T extends Term>(
  terms: readonly T[],
  texts: readonly string[],
  language: string,
): T[] {
  if (terms.length === 0) return [];
  const termsIn = indexTerms(terms, language);
  const found = new Set<T>();
  for (const text of texts) {
    for (const term of termsIn(plainText(text))) if (found.size < MAX_OCCURRING) found.add(term);
    if (found.size === MAX_OCCURRING) break;
  }
  return terms.filter((term) => found.has(term));
}

/** The terms of a glossary that some texts have. */
import { indexTerms, type Term } from '../text/term-index.ts';
import { plainText } from './tags.ts';

/** Terms that go along with an article, at most. */
export const MAX_OCCURRING = 200;

/**
 * Those of the terms that occur in the texts (plain or in protected form), in the order of the terms; of more than
 * `MAX_OCCURRING` those that the first texts have. Of an article it is work for a thread: `glossaryIn` has it done there.
 */
export function occurringTerms<T extends Term>(terms: readonly T[], texts: readonly string[]): T[] {
  if (terms.length === 0) return [];
  const termsIn = indexTerms(terms);
  const found = new Set<T>();
  for (const text of texts) {
    for (const term of termsIn(plainText(text))) if (found.size < MAX_OCCURRING) found.add(term);
    if (found.size === MAX_OCCURRING) break;
  }
  return terms.filter((term) => found.has(term));
}

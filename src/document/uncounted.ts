import { encodeField } from './field-codec.ts';
import type { DocumentJson } from './schema.ts';
import { collectTexts } from './walk.ts';
import { countTextWords } from './words.ts';

/**
 * Words of a document that are translated although they do not count as words of the body: alternative texts, and
 * the titles of inline links.
 */
export function countUncountedWords(document: DocumentJson): number {
  let count = 0;
  for (const field of collectTexts(document)) {
    if (field.kind === 'altText') {
      count += countTextWords(field.text);
    } else if (field.markdown && field.text.includes('](')) {
      for (const title of encodeField(field).titles.values()) count += countTextWords(title);
    }
  }
  return count;
}

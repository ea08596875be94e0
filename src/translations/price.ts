import type { DocumentJson } from '../document/schema.ts';
import { countWords } from '../document/words.ts';

const WORDS_PER_CREDIT = 1000;

/** interface.md, Credit wallet and estimate. */
export interface Estimate {
  /** Words in the source's current content. */
  readonly words: number;
  /** Credits: 1 per started 1,000 words, for any target language. */
  readonly total: number;
}

/** What translating a document costs; a document with blocks but no words is free. */
export function estimateDocument(document: DocumentJson): Estimate {
  const words = countWords(document);
  return { words, total: Math.ceil(words / WORDS_PER_CREDIT) };
}

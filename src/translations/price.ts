import { metaFields, type Snapshot } from '../document/segments.ts';
import { countUncountedWords } from '../document/uncounted.ts';
import { countTextWords, countWords } from '../document/words.ts';

const WORDS_PER_CREDIT = 1000;
/** Words beside the body that cost nothing: so many, and one for every so many words of the body. */
const FREE_WORDS = 200;
const BODY_WORDS_PER_FREE_WORD = 5;

/** interface.md, Credit wallet and estimate. */
export interface Estimate {
  /** Words in the source's current content: of its body, and of what goes beyond the free words beside it. */
  readonly words: number;
  /** Credits: 1 per started 1,000 words, for any target language. */
  readonly total: number;
}

/** Words beside a body of so many that are translated for nothing. */
export const freeWords = (bodyWords: number): number =>
  FREE_WORDS + Math.floor(bodyWords / BODY_WORDS_PER_FREE_WORD);

/**
 * What translating an article costs. Title, meta texts, keywords, alternative texts and titles of links are translated
 * with the body; an ordinary article's are free. A body without words, and with no more than that, is free.
 */
export function estimateSource(source: Snapshot): Estimate {
  const body = countWords(source.document);
  const beside =
    metaFields(source).reduce((sum, { text }) => sum + countTextWords(text), 0) +
    countUncountedWords(source.document);
  const words = body + Math.max(0, beside - freeWords(body));
  return { words, total: Math.ceil(words / WORDS_PER_CREDIT) };
}

/** A verdict without a model: by numbers and words. */
import type { Judged } from '../prompts/claims.ts';
import { isNumber, termsOf } from '../ranking/terms.ts';
import type { Passage } from './passage.ts';

/** Shorter words say little of what a sentence is about. */
const MIN_LETTERS = 4;
/** Words of the claim that a passage has to have, to be about the same. */
const LEAST_SHARED = 0.5;

/**
 * What `pseudo` says: a passage about the same with all numbers of the claim supports it, one with other numbers contradicts it, and
 * without numbers nothing is decided. It shows where verdicts arrive; it is no fact checking.
 */
export function plainVerdict(sentence: string, passages: readonly Passage[], language: string): Judged {
  const terms = new Set(termsOf(sentence, language));
  const numbers = [...terms].filter(isNumber);
  const words = [...terms].filter((term) => !isNumber(term) && term.length >= MIN_LETTERS);
  if (numbers.length === 0) return { verdict: 'not_found', passage: null };
  const near = passages.flatMap((passage) => {
    const there = new Set(termsOf(passage.text, language));
    const shared = words.filter((word) => there.has(word)).length;
    if (shared < Math.max(2, words.length * LEAST_SHARED) || ![...there].some(isNumber)) return [];
    return [{ passage, isSame: numbers.every((number) => there.has(number)) }];
  });
  const same = near.find(({ isSame }) => isSame);
  if (same !== undefined) return { verdict: 'supported', passage: same.passage };
  const [other] = near;
  return other === undefined
    ? { verdict: 'not_found', passage: null }
    : { verdict: 'contradicted', passage: other.passage };
}

import { wordsIn } from '../../document/format/words.ts';

/** The first words of a text, with an ellipsis where there are more. */
export function firstWords(text: string, count: number): string {
  const words = wordsIn(text);
  const last = words[count - 1];
  return last === undefined || words.length === count ? text : `${text.slice(0, last.end)}…`;
}

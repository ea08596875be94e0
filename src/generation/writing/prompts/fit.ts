/** Fits a request into the context of its model. A token is counted as three bytes of UTF-8. */
import { firstCodePoints } from '../../../document/text/characters.ts';

export const BYTES_PER_TOKEN = 3;

export const bytesOf = (text: string): number => Buffer.byteLength(text);

/** The text, or its beginning of at most `limit` characters with an ellipsis. */
export function shorten(text: string, limit: number): string {
  const head = firstCodePoints(text, limit);
  return head.length === text.length ? text : `${head}…`;
}

/**
 * The line with its texts whole, or else with each cut to the same length: the greatest that fits.
 * @param most the length of the longest text
 * @param line the line when no text has more characters than `limit`
 */
export function fitLine(bytes: number, most: number, line: (limit: number) => string): string {
  const whole = line(most);
  if (bytesOf(whole) <= bytes) return whole;
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (bytesOf(line(middle)) <= bytes) low = middle;
    else high = middle - 1;
  }
  return line(low);
}

/** A text that was written, and the line that is left of it when it is too long ago. */
export interface WrittenText {
  readonly whole: string;
  readonly summary: string;
  /** The line with only the end of the text, at most so many characters. */
  readonly end: (characters: number) => string;
}

/**
 * The lines of the texts so far (contract.md G68). They are whole while they fit; else the older half of those that still
 * are whole is summed up, so that the lines stay the same for the next parts until they are full again. Without room for
 * all summaries the oldest go; of a last text that does not fit alone its end stays.
 */
export function fitTexts(texts: readonly WrittenText[], bytes: number): string[] {
  const sizes = texts.map(({ whole, summary }) => ({
    whole: bytesOf(whole) + 1,
    summary: bytesOf(summary) + 1,
  }));
  let [dropped, summed] = [0, 0];
  let total = 0;
  for (const [index, { whole }] of sizes.entries()) {
    total += whole;
    while (total > bytes && summed < index) {
      const half = Math.ceil((index - summed) / 2);
      for (const size of sizes.slice(summed, summed + half)) total += size.summary - size.whole;
      summed += half;
    }
    while (total > bytes && dropped < summed) {
      total -= sizes[dropped]?.summary ?? 0;
      dropped += 1;
    }
    if (index < texts.length - 1 && total > bytes) {
      // The last text alone is too long: it is summed up as soon as another one follows.
      total += (sizes[index]?.summary ?? 0) - whole;
      summed = index + 1;
    }
  }
  return texts.slice(dropped).map(({ whole, summary, end }, position) => {
    const index = dropped + position;
    if (index < summed) return summary;
    return total > bytes && index === texts.length - 1 ? fitLine(bytes, whole.length, end) : whole;
  });
}

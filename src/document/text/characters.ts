/** Characters as people count them for limits: Unicode code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The first `limit` code points of a text. */
export function firstCodePoints(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = 0;
  for (let count = 0; count < limit && end < text.length; count += 1)
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

/** True when the text has between `min` and `max` code points. */
export function withinBounds(text: string, min: number, max: number): boolean {
  // A code point is one or two code units, so very long strings need no counting.
  if (text.length > max * 2) return false;
  const count = text.length <= min || text.length > max ? codePoints(text) : text.length;
  return count >= min && count <= max;
}

const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * The longest beginning of `text` that has at most `limit` code points and ends with a whole word, without the space
 * after it. A single word longer than the limit is cut inside.
 */
export function cutAtWord(text: string, limit: number): string {
  const hard = firstCodePoints(text, limit);
  const { length } = hard;
  if (length === text.length) return text;
  // A few more characters show whether the last word is complete.
  let end = 0;
  for (const segment of SEGMENTER.segment(firstCodePoints(text, limit + 40))) {
    const next = segment.index + segment.segment.length;
    if (next > length) break;
    if (segment.segment.trim() !== '') end = next;
  }
  return end === 0 ? hard : hard.slice(0, end);
}

/** A text without case, accents and vowel signs, so that forms of a word compare as equal. */
export const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{Mn}+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');

/** Shortening texts to a limit of characters (code points) without cutting a word in two. */

const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * The longest beginning of `text` that has at most `limit` code points and ends with a whole word, without the space
 * after it. A single word longer than the limit is cut inside.
 */
export function cutAtWord(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = [...text.slice(0, limit * 2 + 2)];
  if (head.length <= limit) return text;
  const hard = head.slice(0, limit).join('');
  const length = hard.length;
  // A few more characters tell whether the last word is complete.
  let end = 0;
  for (const segment of SEGMENTER.segment(head.slice(0, limit + 40).join(''))) {
    const next = segment.index + segment.segment.length;
    if (next > length) break;
    if (segment.segment.trim() !== '') end = next;
  }
  return end === 0 ? hard : hard.slice(0, end);
}

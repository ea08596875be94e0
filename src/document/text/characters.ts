/** Characters as people count them for limits: Unicode code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** True when the text has between `min` and `max` code points. */
export function withinBounds(text: string, min: number, max: number): boolean {
  // A code point is one or two code units, so very long strings need no counting.
  if (text.length > max * 2) return false;
  const count = text.length <= min || text.length > max ? codePoints(text) : text.length;
  return count >= min && count <= max;
}
